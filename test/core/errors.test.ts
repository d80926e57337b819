import { describe, expect, test } from '@jest/globals';
import { readdirSync } from 'node:fs';
import * as abortReason from '../../src/core/abort-reason.ts';
import * as controlErrors from '../../src/core/control-errors.ts';
import * as coreErrors from '../../src/core/errors.ts';
import {
  describeKey,
  InvalidOptionError,
  InvalidSubmissionError,
  isJobsError,
  JobIdentityConflictError,
  JobsError,
} from '../../src/core/errors.ts';
import * as handlerErrors from '../../src/core/handler-errors.ts';
import * as message from '../../src/core/message.ts';
import * as middleware from '../../src/core/middleware.ts';
import * as refuseRemoval from '../../src/entities/refuse-removal.ts';
import * as publicList from '../../src/index.ts';
import * as unitErrors from '../../src/unit-of-work/errors.ts';

const modules = {
  ...abortReason,
  ...controlErrors,
  ...coreErrors,
  ...handlerErrors,
  ...message,
  ...middleware,
  ...refuseRemoval,
  ...unitErrors,
};

const classes = Object.entries(modules).filter(([name, value]) => isErrorClass(value) && name !== 'JobsError');
const key = { scope: 'acme', id: 'order-1' };
const cause = new Error('the cause');

/** One of each, made as the library makes it; its code, and what its message has to say. */
const examples: [JobsError, code: string, says: RegExp][] = [
  [new coreErrors.InvalidSubmissionError('queue', 'be text'), 'INVALID_SUBMISSION', /expected `queue` to be text/],
  [new coreErrors.InvalidOptionError('lease', 'be false', 5), 'INVALID_OPTION', /expected `lease` to be false, got 5/],
  [new coreErrors.TransactionEndedError(), 'TRANSACTION_ENDED', /ended this transaction by itself/],
  [new coreErrors.TransactionControlError('em.commit()'), 'TRANSACTION_CONTROL', /em\.commit\(\) was called inside of `job\.transactional\(\)`/],
  [new coreErrors.TransactionRequiredError('stage()', 'use submit()'), 'TRANSACTION_REQUIRED', /stage\(\) needs .* use submit\(\)/],
  [new coreErrors.AmbientTransactionError('submit()', 'Use `stage()`.'), 'AMBIENT_TRANSACTION', /submit\(\) .* inside a transaction.* Use `stage\(\)`\./],
  [new coreErrors.EntityManagerMismatchError('Pass the inner one.'), 'ENTITY_MANAGER_MISMATCH', /Pass the inner one/],
  [new coreErrors.JobIdentityConflictError(key, [{ field: 'payload' }]), 'JOB_IDENTITY_CONFLICT', /"order-1" in scope "acme" .* payload differs/],
  [new coreErrors.ParentNotFoundError(key, 'order-0'), 'PARENT_NOT_FOUND', /"order-1" in scope "acme" is to wait for "order-0"/],
  [new controlErrors.RepairMismatchError(key, { name: 'mail', version: '1' }, { name: 'mail', version: '2' }), 'REPAIR_MISMATCH', /"order-1" in scope "acme" is a mail of version 1 .* a mail of version 2/],
  [new coreErrors.AttemptMissingError(key, 2), 'ATTEMPT_MISSING', /Attempt 2 of job "order-1" in scope "acme" has no row/],
  [new coreErrors.AttemptSettledError(key, 2, '`transactional()`', 'was settled', { cause }), 'ATTEMPT_SETTLED', /`transactional\(\)` came after attempt 2 of job "order-1" .* was settled/],
  [new coreErrors.StaleAttemptError(key, 2), 'STALE_ATTEMPT', /Attempt 2 of job "order-1" in scope "acme" no longer owns/],
  [new coreErrors.EntitiesNotRegisteredError(['DurableJob']), 'ENTITIES_NOT_REGISTERED', /DurableJob: add `\.\.\.jobEntities` .* to `entities`/],
  [new coreErrors.SchemaMissingError({ cause }), 'SCHEMA_MISSING', /npx mikro-orm migration:create.*migration:up/],
  [new coreErrors.UnsupportedDriverError('MySqlDriver'), 'UNSUPPORTED_DRIVER', /SQLite and PostgreSQL .* not with MySqlDriver/],
  [new coreErrors.ConnectionTimeoutError('submit()', { cause }), 'CONNECTION_TIMEOUT', /submit\(\) got no connection .*`stage\(\)`.* may be called again/],
  [new coreErrors.InsertRefusedError(key), 'INSERT_REFUSED', /"order-1" in scope "acme" .* a trigger or a rule/],
  [new controlErrors.UpdateRefusedError(key), 'UPDATE_REFUSED', /"order-1" in scope "acme", .* a trigger or a rule/],
  [new handlerErrors.PermanentError('declined', { cause }), 'PERMANENT', /^declined$/],
  [new handlerErrors.RetryAfterError('1m', 'busy', { cause }), 'RETRY_AFTER', /^busy$/],
  [new handlerErrors.SnoozeError('1m'), 'SNOOZE', /asked to be called later/],
  [new handlerErrors.KeyInProgressError(key, 'charge', 2000), 'KEY_IN_PROGRESS', /Job "order-1" in scope "acme" .* under the key "charge"/],
  [new handlerErrors.PayloadInvalidError('no id', { cause }), 'PAYLOAD_INVALID', /^no id$/],
  [new handlerErrors.ResultInvalidError('too long'), 'RESULT_INVALID', /^too long$/],
  [new abortReason.AttemptAbortedError(key, 2, 'cancelled'), 'ATTEMPT_ABORTED', /Attempt 2 of job "order-1" .* a cancel of the job was requested/],
  [new message.InvalidMessageError('id', 'be text'), 'INVALID_MESSAGE', /expected `id` to be text/],
  [new message.MessageContractError('m-1', 'inbox', [{ field: 'content' }]), 'MESSAGE_CONTRACT', /The inbox has another message with the id "m-1": its content differs/],
  [new middleware.MiddlewareError('`next()` was called twice'), 'MIDDLEWARE', /`next\(\)` was called twice/],
  [new refuseRemoval.ReadOnlyEntityError('DurableJob'), 'READ_ONLY_ENTITY', /DurableJob is for reading/],
  [new unitErrors.UnitRolledBackError('a stage failed', { cause }), 'UNIT_ROLLED_BACK', /a stage failed/],
  [new unitErrors.UnitEndedError('unit.stage()'), 'UNIT_ENDED', /`unit\.stage\(\)` was used after the end/],
  [new unitErrors.ConcurrentUnitError(), 'CONCURRENT_UNIT', /Await the first before the second/],
  [new unitErrors.UnitControlError('em.commit()'), 'UNIT_CONTROL', /em\.commit\(\).* return to commit, throw to roll back/],
  [new unitErrors.MessageLostError('m-1', 'billing'), 'MESSAGE_LOST', /"m-1" for consumer "billing"/],
  [new unitErrors.MessageRefusedError('m-1', 'inbox'), 'MESSAGE_REFUSED', /"m-1" in the inbox .* a trigger or a rule/],
]; // prettier-ignore

describe('each error of the library', () => {
  test('has an example here', () => {
    const shown = new Set(examples.map(([error]) => error.constructor.name));

    expect(classes.map(([name]) => name).filter(name => !shown.has(name))).toEqual([]);
  });

  test('can be imported', () => {
    expect(classes.filter(([name, type]) => (publicList as Record<string, unknown>)[name] !== type)).toEqual([]);
  });

  test('has a code of its own', () => {
    const codes = examples.map(([error]) => error.code);

    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
  });

  test('is declared where this test looks', () => {
    const files = readdirSync(new URL('../../src/core', import.meta.url)).filter(file =>
      /error|message|abort/.test(file),
    );

    expect(files).toEqual([
      'abort-reason.ts',
      'control-errors.ts',
      'error-text.ts',
      'errors.ts',
      'handler-errors.ts',
      'message.ts',
    ]);
  });

  test.each(examples)('%s', (error, code, says) => {
    expect(error.code).toBe(code);
    expect(error.name).toBe(error.constructor.name);
    expect(error.message).toMatch(says);
    expect(error instanceof JobsError && error instanceof Error).toBe(true);
    expect(isJobsError(error)).toBe(true);
    expect(`${error}`).toBe(`${error.name}: ${error.message}`);
  }); // prettier-ignore

  test.each(examples.filter(([error]) => 'cause' in error))('%s keeps its cause', error => {
    expect(error.cause).toBe(cause);
  });
});

describe('facts are fields', () => {
  test('of an option: which, its rule, its value', () => {
    expect(new InvalidOptionError('lease', 'be false', true)).toMatchObject({ option: 'lease', rule: 'be false', value: true });
  });

  test('of a conflict: the key and each difference', () => {
    const differences = [{ field: 'queue' as const, stored: 'a', submitted: 'b' }, { field: 'payload' as const }];

    expect(new JobIdentityConflictError(key, differences)).toMatchObject({ key, differences });
  });

  test.each([
    ['cancelled', 'a cancel of the job was requested'],
    ['timed_out', 'its time is up'],
    ['stopped', 'the executor is stopping'],
    ['lost', 'it no longer owns the job'],
  ] as const)('of an abort: why (%s)', (why, explanation) => {
    expect(new abortReason.AttemptAbortedError(key, 2, why)).toMatchObject({
      key, attempt: 2, why, message: `Attempt 2 of job "order-1" in scope "acme" was aborted: ${explanation}.`,
    }); // prettier-ignore
  });
}); // prettier-ignore

describe('a conflict says both values, never a payload', () => {
  test.each([
    [{ field: 'queue', stored: 'a', submitted: 'b' }, `queue is 'a', submitted 'b'`],
    [{ field: 'maxAttempts', stored: 3, submitted: 5 }, 'maxAttempts is 3, submitted 5'],
    [{ field: 'notBefore', stored: null, submitted: new Date(0) }, 'notBefore is null, submitted 1970-01-01T00:00:00.000Z'],
    [{ field: 'payload', stored: 'secret', submitted: 'secret' }, 'payload differs'],
    [{ field: 'name', stored: 'x'.repeat(500), submitted: 'b' }, `name is '${'x'.repeat(100)}', submitted 'b'`],
  ] as const)('%j', (difference, words) => {
    const { message } = new JobIdentityConflictError({ scope: '', id: 'a' }, [difference]);

    expect(message).toBe(`Job "a" is already there with a different request: ${words}.`);
  });
}); // prettier-ignore

test.each([
  [{ scope: '', id: 'a' }, '"a"'],
  [{ scope: 'acme', id: 'a' }, '"a" in scope "acme"'],
  [{ scope: 'x'.repeat(1_000_000), id: 'a' }, `"a" in scope "${'x'.repeat(100)}"`],
])('a job is named by its key: %#', (jobKey, name) => {
  expect(describeKey(jobKey)).toBe(name);
});

test.each([
  ['text', 'x'.repeat(500), `'${'x'.repeat(100)}'`],
  ['an invalid Date', new Date(NaN), 'an invalid Date'],
  ['null', null, 'null'],
  ['a symbol', Symbol('x'), 'Symbol(x)'],
  ['an object', {}, 'an object with nothing'],
  ['an object by its fields', { warn: 1, info: 2 }, 'an object with warn, info'],
  ['a list', [{}, {}], 'a list of 2'],
  ['an object without a prototype', Object.create(null), 'a value of type object'],
  ['an object whose toString throws', { toString: () => { throw new Error('no'); } }, 'a value of type object'],
])('a wrong option is shown whatever it is: %s', (_, value, shown) => {
  expect(new InvalidOptionError('a', 'be b', value).message).toBe(`Invalid option: expected \`a\` to be b, got ${shown}.`);
}); // prettier-ignore

describe('an error is known as one of ours', () => {
  test('from another copy of this package', () => {
    expect(isJobsError(Object.assign(new Error('x'), { [Symbol.for('mikro-orm-jobs.error')]: true }))).toBe(true);
  });

  test.each([new Error('x'), { code: 'PERMANENT' }, null, undefined, 'PERMANENT', 5])('but not %p', value => {
    expect(isJobsError(value)).toBe(false);
  });

  test('by a mark that does not show', () => {
    expect(Object.keys(new InvalidSubmissionError('queue', 'be text')).sort()).toEqual(['code', 'field', 'name', 'rule']);
    expect(Object.getOwnPropertySymbols({ ...new InvalidSubmissionError('queue', 'be text') })).toEqual([]);
  });
}); // prettier-ignore

function isErrorClass(value: unknown): boolean {
  return typeof value === 'function' && (value === JobsError || value.prototype instanceof JobsError);
}
