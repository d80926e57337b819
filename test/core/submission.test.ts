import { describe, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { InvalidSubmissionError } from '../../src/core/errors.ts';
import {
  checkedSubmission,
  delayedFrom,
  hasIdOfItsOwn,
  type Identity,
  type Submission,
  type SubmissionOptions,
} from '../../src/core/submission.ts';
import { microsOf } from '../../src/core/time.ts';
import { sendMail } from './builders.ts';

type Options = SubmissionOptions & Identity;

/** Options as JavaScript may give them. */
const create = (options: unknown) => sendMail.create({}, options as Options);
const text = (length: number) => 'x'.repeat(length);

describe('a submission', () => {
  test('has the defaults where nothing is said', () => {
    expect({ ...sendMail.create({ to: 'ann' }) }).toEqual({
      scope: '',
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      name: 'mail.send',
      version: '1',
      payload: '{"to":"ann"}',
      queue: 'default',
      priority: 0,
      maxAttempts: 10,
      notBefore: null,
      onInterrupt: 'hold',
      timeoutMs: null,
      retryPolicy: null,
      lifetimeMs: null,
      uniqueKey: null,
      metadata: null,
      after: [],
      trace: null,
    });
  });

  test('has what its definition says', () => {
    const definition = defineJob<unknown>()({
      name: 'mail.send', version: '2', queue: 'mail', priority: 5, maxAttempts: 3, onInterrupt: 'requeue', timeout: '30s', retry: { lifetime: '1d' },
    }); // prettier-ignore

    expect(definition.create({})).toMatchObject({
      name: 'mail.send', version: '2', queue: 'mail', priority: 5, maxAttempts: 3, onInterrupt: 'requeue', lifetimeMs: 86_400_000,
      // these stay with the definition, so that a changed one counts for stored jobs, too
      timeoutMs: null, retryPolicy: null,
    }); // prettier-ignore
  });

  test('has what it says itself, against its definition', () => {
    const definition = defineJob<unknown>()({
      name: 'mail.send', queue: 'mail', priority: 5, maxAttempts: 3, onInterrupt: 'requeue', timeout: '30s', retry: { lifetime: '1d' },
    }); // prettier-ignore
    const said = {
      scope: 'acme', id: 'order-1', queue: 'bulk', priority: -1, maxAttempts: 1, uniqueKey: 'order', metadata: { by: 'ann' }, notBefore: new Date(1),
    }; // prettier-ignore

    expect(
      definition.create({}, { ...said, onInterrupt: 'hold', timeout: '1m', retry: { base: '1s', lifetime: '1h' } }),
    ).toMatchObject({
      ...said,
      onInterrupt: 'hold',
      timeoutMs: 60_000,
      retryPolicy: { baseMs: 1000, factor: 2, capMs: 600_000, jitter: 0.2, lifetimeMs: 3_600_000 },
      lifetimeMs: 3_600_000,
    });
    expect(definition.create({}, { retry: false })).toMatchObject({ retryPolicy: false, lifetimeMs: null });
    expect(definition.create({}, { retry: {} })).toMatchObject({ lifetimeMs: null });
  });

  test('treats an option that is undefined as one that is left out', () => {
    const options: Options = {
      scope: undefined, queue: undefined, priority: undefined, maxAttempts: undefined, retry: undefined, timeout: undefined, onInterrupt: undefined, uniqueKey: undefined, metadata: undefined, id: undefined, notBefore: undefined, delay: undefined,
    }; // prettier-ignore
    const id = expect.any(String) as unknown;

    expect({ ...sendMail.create({}, options), id }).toEqual({ ...sendMail.create({}), id });
    expect(sendMail.create({}, undefined)).toMatchObject({ notBefore: null });
  });

  test('made without an id is another one each time', () => {
    const ids = Array.from({ length: 1000 }, () => sendMail.create({}).id);

    expect(new Set(ids).size).toBe(1000);
    expect([...ids].sort()).toEqual(ids);
  });

  test('is frozen, with all that is in it', () => {
    const submission = sendMail.create({}, { metadata: { by: 'ann' }, retry: {}, notBefore: new Date(5) });

    expect([submission, submission.metadata, submission.retryPolicy].every(Object.isFrozen)).toBe(true);
    submission.notBefore!.setTime(0);
    expect(submission.notBefore).toEqual(new Date(5));
  });

  test('is not changed by what happens to its options', () => {
    const options = { id: 'a', notBefore: new Date(5), metadata: { by: 'ann' } };
    const submission = sendMail.create({}, options);

    options.id = 'b';
    options.notBefore.setTime(0);
    options.metadata.by = 'bob';

    expect(submission).toMatchObject({ id: 'a', notBefore: new Date(5), metadata: { by: 'ann' } });
  });
});

describe('limits', () => {
  const allowed: [string, Options][] = [
    ['an id of 1 character', { id: '!' }],
    ['an id of 128 characters', { id: text(128) }],
    ['an id of every printable character', { id: String.fromCharCode(...Array.from({ length: 94 }, (_, i) => 0x21 + i)) }],
    ['an id called __proto__', { id: '__proto__' }],
    ['an empty scope', { scope: '' }],
    ['a long scope', { scope: text(10_000) }],
    ['a scope in any script', { scope: '租户 🏭' }],
    ['a queue of 255 characters', { queue: text(255) }],
    ['a queue called __proto__', { queue: '__proto__' }],
    ['a unique key of 255 characters', { uniqueKey: text(255) }],
    ['the lowest priority', { priority: -2_147_483_647 }],
    ['the highest priority', { priority: 2_147_483_647 }],
    ['one attempt', { maxAttempts: 1 }],
    ['a million attempts', { maxAttempts: 1_000_000 }],
    ['a timeout of 1 ms', { timeout: 1 }],
    ['the longest timeout of a timer', { timeout: 2_147_483_647 }],
    ['an instant at the epoch', { notBefore: new Date(0) }],
    ['an instant that has passed', { notBefore: new Date('2001-01-01') }],
    ['the last instant', { notBefore: new Date('2255-01-01T00:00:00Z') }],
    ['no instant', { notBefore: null }],
    ['no instant, and a delay', { notBefore: null, delay: '1s' }],
    ['no delay', { delay: 0 }],
    ['a delay of a hundred years', { delay: '36525d' }],
    ['no labels', { metadata: {} }],
    ['64 KiB of labels', { metadata: { k: text(65_536 - '{"k":""}'.length) } }],
    ['an empty label', { metadata: { '': '' } }],
  ]; // prettier-ignore

  test.each(allowed)('%s is taken', (_, options) => {
    expect(create(options)).toMatchObject({ name: 'mail.send' });
  });

  const refused: [string, string, unknown][] = [
    ['an empty id', 'id', { id: '' }],
    ['an id of 129 characters', 'id', { id: text(129) }],
    ['an id with a space', 'id', { id: 'a b' }],
    ['an id with a line break at its end', 'id', { id: 'a\n' }],
    ['an id with DEL', 'id', { id: 'a\u007f' }],
    ['an id beyond ASCII', 'id', { id: 'é' }],
    ['an id of null', 'id', { id: null }],
    ['a number as an id', 'id', { id: 5 }],
    ['a scope of null', 'scope', { scope: null }],
    ['a number as a scope', 'scope', { scope: 5 }],
    ['a scope with a lone surrogate', 'scope', { scope: '\ud800' }],
    ['a scope with another one', 'scope', { scope: '\ud801' }],
    ['a scope with NUL', 'scope', { scope: '\u0000' }],
    ['an empty queue', 'queue', { queue: '' }],
    ['a queue of 256 characters', 'queue', { queue: text(256) }],
    ['a queue with a lone surrogate', 'queue', { queue: 'a\udfed' }],
    ['a queue of null', 'queue', { queue: null }],
    ['an empty unique key', 'uniqueKey', { uniqueKey: '' }],
    ['a unique key of 256 characters', 'uniqueKey', { uniqueKey: text(256) }],
    ['a unique key with NUL', 'uniqueKey', { uniqueKey: 'a\u0000' }],
    ['a unique key of null', 'uniqueKey', { uniqueKey: null }],
    ['a priority below 32 bits', 'priority', { priority: -2_147_483_648 }],
    ['a priority beyond 32 bits', 'priority', { priority: 2_147_483_648 }],
    ['half a priority', 'priority', { priority: 0.5 }],
    ['a priority as text', 'priority', { priority: '5' }],
    ['a priority of null', 'priority', { priority: null }],
    ['no attempts', 'maxAttempts', { maxAttempts: 0 }],
    ['attempts below nothing', 'maxAttempts', { maxAttempts: -1 }],
    ['a million attempts and one', 'maxAttempts', { maxAttempts: 1_000_001 }],
    ['half an attempt', 'maxAttempts', { maxAttempts: 1.5 }],
    ['endless attempts', 'maxAttempts', { maxAttempts: Infinity }],
    ['attempts of null', 'maxAttempts', { maxAttempts: null }],
    ['a timeout of 0', 'timeout', { timeout: 0 }],
    ['a timeout that a timer would take for 1 ms', 'timeout', { timeout: 2_147_483_648 }],
    ['a timeout of 25 days', 'timeout', { timeout: '25d' }],
    ['a timeout in parsecs', 'timeout', { timeout: '1 parsec' }],
    ['a timeout of null', 'timeout', { timeout: null }],
    ['an unknown interruption', 'onInterrupt', { onInterrupt: 'retry' }],
    ['an interruption of null', 'onInterrupt', { onInterrupt: null }],
    ['an invalid Date', 'notBefore', { notBefore: new Date(NaN) }],
    ['an instant before the epoch', 'notBefore', { notBefore: new Date(-1) }],
    ['an instant after 2254', 'notBefore', { notBefore: new Date('2255-01-01T00:00:00.001Z') }],
    ['the last Date that there is', 'notBefore', { notBefore: new Date(8.64e15) }],
    ['an instant as text', 'notBefore', { notBefore: '2026-12-01' }],
    ['an instant as a number', 'notBefore', { notBefore: 5 }],
    ['a negative delay', 'delay', { delay: -1 }],
    ['a delay of more than a hundred years', 'delay', { delay: '36526d' }],
    ['a delay of null', 'delay', { delay: null }],
    ['a delay beside an id', 'delay', { id: 'a', delay: '30s' }],
    ['a delay beside an instant', 'delay', { notBefore: new Date(5), delay: '30s' }],
    ['a parent as an id', 'after', { after: ['order-1'] }],
    ['a parent of another scope', 'after', { after: [{ scope: 'tenant', id: 'order-1' }] }],
    ['a retry of true', 'retry', { retry: true }],
    ['a retry of null', 'retry', { retry: null }],
    ['a retry that is misspelt', 'retry.bas', { retry: { bas: '1s' } }],
    ['a retry that is too long', 'retry.base', { retry: { base: '36526d' } }],
    ['64 KiB of labels and a byte', 'metadata', { metadata: { k: text(65_537 - '{"k":""}'.length) } }],
    ['64 KiB of labels in bytes, not characters', 'metadata', { metadata: { k: '租'.repeat(21_843) } }],
    ['a label that is no text', 'metadata', { metadata: { attempts: 5 } }],
    ['a label that is undefined', 'metadata', { metadata: { by: undefined } }],
    ['a label with a lone surrogate', 'metadata', { metadata: { by: '\ud800' } }],
    ['a label with NUL', 'metadata', { metadata: { by: '\u0000' } }],
    ['a label whose name has a lone surrogate', 'metadata', { metadata: { '\ud800': 'x' } }],
    ['labels of null', 'metadata', { metadata: null }],
    ['labels as text', 'metadata', { metadata: 'by ann' }],
    ['labels as a list', 'metadata', { metadata: ['ann'] }],
    ['labels as an empty list', 'metadata', { metadata: [] }],
    ['labels as a Map', 'metadata', { metadata: new Map([['by', 'ann']]) }],
    ['an unknown option', 'maxAttempt', { maxAttempt: 5 }],
    ['an option of another prototype', '__proto__', JSON.parse('{"__proto__":{"id":"a"}}')],
    ['options of null', 'options', null],
    ['options as text', 'options', 'order-1'],
  ]; // prettier-ignore

  test('a parent that is no key is told how to be one, not that its scope is another', () => {
    const rule = 'name each job as a submission or as { scope, id }';
    expect(() => create({ after: [{ id: 'order-1' }] })).toThrow(expect.objectContaining({ rule }));
  });

  test.each(refused)('%s is refused as `%s`', (_, field, options) => {
    expect(() => create(options)).toThrow(InvalidSubmissionError);
    expect(() => create(options)).toThrow(expect.objectContaining({ code: 'INVALID_SUBMISSION', field }));
  });

  test.each([
    ['one byte a character', text(1_000_000 - 2), true],
    ['one byte a character', text(1_000_000 - 1), false],
    ['three bytes a character', '租'.repeat(333_332), true],
    ['three bytes a character', '租'.repeat(333_333), false],
  ])('a payload has a million bytes at the most: %s', (_, payload, isTaken) => {
    const submit = () => sendMail.create(payload);

    if (isTaken) {
      expect(Buffer.byteLength(submit().payload)).toBeGreaterThan(999_995);
    } else {
      expect(submit).toThrow('expected `payload` to have at most 1,000,000 bytes as UTF-8');
    }
  });

  test('a delay counts from when the submission is made', () => {
    const before = Date.now();
    const { notBefore } = sendMail.create({}, { delay: '1h' });

    expect(notBefore!.getTime()).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(notBefore!.getTime()).toBeLessThanOrEqual(Date.now() + 3_600_000);
  });

  test('a delay that is counted from another instant makes another submission, alike in all else', () => {
    const submission = sendMail.create({ to: 'ann' }, { delay: '1h' });
    const before = submission.notBefore;

    const later = delayedFrom(submission, microsOf(new Date('2030-01-01T00:00:00Z')));

    expect({ ...later }).toEqual({ ...submission, notBefore: new Date('2030-01-01T01:00:00Z') });
    expect([Object.isFrozen(later), hasIdOfItsOwn(later), checkedSubmission(later)]).toEqual([true, true, later]);
    expect(submission.notBefore).toEqual(before);
    expect(delayedFrom(later, microsOf(new Date(5))).notBefore).toEqual(new Date(3_600_005));
  });

  test('without a delay there is nothing to count', () => {
    const submission = sendMail.create({}, { id: 'a', notBefore: new Date(5) });

    expect(delayedFrom(submission, microsOf(new Date('2030-01-01')))).toBe(submission);
  });

  test.each<[string, (submission: Submission) => { readonly notBefore: Date | null }]>([
    ['spread', submission => ({ ...submission })],
    ['a structured clone', structuredClone],
    ['what stands on it', submission => Object.create(submission) as Submission],
    ['the same one', submission => submission],
  ])('%s reads its instant as a Date that nobody else has', (_, copied) => {
    const submission = sendMail.create({}, { id: 'a', notBefore: new Date(5) });

    copied(submission).notBefore!.setTime(0);

    expect(copied(submission).notBefore).toEqual(new Date(5));
    expect(copied(sendMail.create({})).notBefore).toBeNull();
  });

  test('labels called __proto__ are labels, and nothing more', () => {
    const { metadata } = create({ metadata: JSON.parse('{"__proto__":"x"}') });

    expect(JSON.stringify(metadata)).toBe('{"__proto__":"x"}');
    expect(Object.getPrototypeOf(metadata)).toBe(Object.getPrototypeOf({}));
  });
});

describe('only a definition makes submissions', () => {
  const submission = sendMail.create({}, { id: 'a' });

  test('its own are taken', () => {
    expect(checkedSubmission(submission)).toBe(submission);
  });

  test.each<[string, unknown]>([
    ['a copy', { ...submission }],
    ['a copy with another payload', { ...submission, payload: '{}' }],
    ['a disguised one', Object.create(submission, { payload: { value: '{}' } })],
    ['one that went through JSON', JSON.parse(JSON.stringify(submission))],
    ['a definition', sendMail],
    ['null', null],
    ['nothing', undefined],
    ['text', 'order-1'],
  ])('%s is refused', (_, value) => {
    expect(() => checkedSubmission(value)).toThrow(InvalidSubmissionError);
    expect(() => checkedSubmission(value)).toThrow('to be made by `create` or `createFromJson` of a job definition');
  });

  test('what a submission says can be read, logged and compared', () => {
    const { notBefore }: Submission = sendMail.create({}, { id: 'a', notBefore: new Date(5) });

    expect(JSON.parse(JSON.stringify({ notBefore }))).toEqual({ notBefore: '1970-01-01T00:00:00.005Z' });
  });
});
