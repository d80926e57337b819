import { describe, expect, test } from '@jest/globals';
import type { Attempt, Settlement } from '../../src/core/attempt.ts';
import { failureReasons } from '../../src/core/failure-reason.ts';
import { PermanentError, RetryAfterError, SnoozeError } from '../../src/core/handler-errors.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { settlementFor, type SettlementContext } from '../../src/core/settlement.ts';
import { latestInstant } from '../../src/core/time.ts';
import { anAttempt, aPolicy, now } from './builders.ts';

const second = 1_000_000;
const hour = 3600 * second;

const last = { attempt: 3, attemptLimit: 3 };
const threw = (error: unknown): Outcome => ({ kind: 'threw', error });
const returned = (value: unknown): Outcome => ({ kind: 'returned', value });

const broken = threw(new Error('broken'));
const permanent = threw(new PermanentError('declined'));
const throttled = threw(new RetryAfterError('1m'));
const snoozed = threw(new SnoozeError('5m'));
const timedOut: Outcome = { kind: 'timed_out', error: new Error('too slow') };
const cancelled: Outcome = { kind: 'cancelled', error: new Error('stopped') };
const invalid: Outcome = { kind: 'payload_invalid', error: new Error('no id') };

const retrying = aPolicy({ base: '10s', jitter: 0 });

function decide(
  outcome: Outcome,
  attempt: Partial<Attempt> = {},
  context: Partial<SettlementContext> = {},
): Settlement {
  return settlementFor(anAttempt(attempt), outcome, { policy: retrying, progress: null, now, random: 0.5, ...context });
}

describe('what is written for an attempt that ended', () => {
  const rows: [title: string, Outcome, Partial<Attempt>, Partial<SettlementContext>, Partial<Settlement>][] = [
    ['it returned nothing', returned(undefined), {}, {}, { outcome: 'succeeded', resultRef: null }],
    ['it returned null', returned(null), {}, {}, { outcome: 'succeeded', resultRef: null }],
    ['it returned a reference', returned('file:///etc/passwd'), {}, {}, { outcome: 'succeeded', resultRef: 'file:///etc/passwd' }],
    ['it returned an empty text', returned(''), {}, {}, { outcome: 'succeeded', resultRef: '' }],
    ['it returned, and it was the last start', returned('x'), last, { policy: false }, { outcome: 'succeeded', resultRef: 'x' }],
    ['it returned after its lifetime', returned('x'), { retryUntil: now - 1 }, {}, { outcome: 'succeeded' }],

    ['it threw', broken, {}, {}, { outcome: 'rescheduled', failureReason: 'handler_error', nextRunAt: now + 10 * second }],
    ['it threw for the third time', broken, { failureCount: 2 }, {}, { outcome: 'rescheduled', nextRunAt: now + 40 * second }],
    ['it threw often', broken, { failureCount: 1100 }, {}, { outcome: 'rescheduled', nextRunAt: now + 600 * second }],
    ['it threw in its second start, the first was interrupted', broken, { attempt: 2, failureCount: 0 }, {}, { outcome: 'rescheduled', nextRunAt: now + 10 * second }],
    ['it threw, and chance adds all it may', broken, {}, { policy: aPolicy({ base: '10s', jitter: 0.2 }), random: 1 }, { outcome: 'rescheduled', nextRunAt: now + 12 * second }],
    ['it threw, and has a start left', broken, { attempt: 2 }, {}, { outcome: 'rescheduled' }],
    ['it threw in its last start', broken, last, {}, { outcome: 'failed', failureReason: 'attempts_exhausted' }],
    ['it threw in a start beyond the limit', broken, { attempt: 4 }, {}, { outcome: 'failed', failureReason: 'attempts_exhausted' }],
    ['it threw, but a snooze gave a start back', broken, { attempt: 3, attemptLimit: 4 }, {}, { outcome: 'rescheduled' }],
    ['it threw, and is never retried', broken, {}, { policy: false }, { outcome: 'failed', failureReason: 'handler_error' }],
    ['it threw, and the retry is the last moment of its lifetime', broken, { retryUntil: now + 10 * second }, {}, { outcome: 'rescheduled' }],
    ['it threw, and the retry would come after its lifetime', broken, { retryUntil: now + 10 * second - 1 }, {}, { outcome: 'failed', failureReason: 'retry_lifetime_expired' }],
    ['it threw nothing', threw(undefined), {}, {}, { outcome: 'rescheduled', failureReason: 'handler_error', error: 'not an error: undefined' }],

    ['it threw what is permanent', permanent, {}, {}, { outcome: 'failed', failureReason: 'permanent_error' }],
    ['it threw what is permanent in its last start', permanent, last, { policy: false }, { outcome: 'failed', failureReason: 'permanent_error' }],

    ['it was told to come later', throttled, {}, {}, { outcome: 'rescheduled', failureReason: 'throttled', nextRunAt: now + 60 * second }],
    ['it was told to come in a day', threw(new RetryAfterError('1d')), {}, {}, { outcome: 'rescheduled', nextRunAt: now + hour }],
    ['it was told to come in a day, and the cap is longer', threw(new RetryAfterError('1d')), {}, { policy: aPolicy({ cap: '2h' }) }, { outcome: 'rescheduled', nextRunAt: now + 2 * hour }],
    ['it was told to come yesterday', threw(new RetryAfterError(new Date(0))), {}, {}, { outcome: 'rescheduled', nextRunAt: now }],
    ['it was told to come later in its last start', throttled, last, {}, { outcome: 'failed', failureReason: 'throttled' }],
    ['it was told to come later, and is never retried', throttled, {}, { policy: false }, { outcome: 'failed', failureReason: 'throttled' }],
    ['it was told to come after its lifetime', throttled, { retryUntil: now + second }, {}, { outcome: 'failed', failureReason: 'retry_lifetime_expired' }],

    ['it has nothing to do yet', snoozed, {}, {}, { outcome: 'snoozed', nextRunAt: now + 300 * second }],
    ['it has nothing to do yet, in its last start', snoozed, last, {}, { outcome: 'snoozed' }],
    ['it has nothing to do yet, and is never retried', snoozed, {}, { policy: false }, { outcome: 'snoozed' }],
    ['it has nothing to do until after its lifetime', snoozed, { retryUntil: now }, {}, { outcome: 'snoozed' }],
    ['it has nothing to do for longer than a column holds', threw(new SnoozeError(new Date(8.64e15))), {}, {}, { outcome: 'snoozed', nextRunAt: latestInstant }],
    ['it should have come yesterday', threw(new SnoozeError(new Date(0))), {}, {}, { outcome: 'snoozed', nextRunAt: now }],

    ['its time was up', timedOut, {}, {}, { outcome: 'failed', failureReason: 'timeout' }],
    ['a cancel was requested, and it threw', cancelled, {}, {}, { outcome: 'interrupted', failureReason: 'cancel_requested' }],
    ['its payload was none', invalid, {}, {}, { outcome: 'failed', failureReason: 'payload_invalid' }],
    ['its payload was none, and it has starts left', invalid, { attempt: 1 }, {}, { outcome: 'failed', failureReason: 'payload_invalid' }],

    ['its reference has 2,048 characters', returned('x'.repeat(2048)), {}, {}, { outcome: 'succeeded' }],
    ['its reference has 2,049 characters', returned('x'.repeat(2049)), {}, {}, { outcome: 'failed', failureReason: 'result_invalid' }],
    ['its reference has NUL', returned('a\u0000'), {}, {}, { outcome: 'failed', failureReason: 'result_invalid' }],
    ['its reference has a lone surrogate', returned('\ud800'), {}, {}, { outcome: 'failed', failureReason: 'result_invalid' }],
    ['it returned an object', returned({ ok: true }), {}, {}, { outcome: 'failed', failureReason: 'result_invalid' }],
    ['it returned a number', returned(0), {}, {}, { outcome: 'failed', failureReason: 'result_invalid' }],
    ['it returned false', returned(false), {}, {}, { outcome: 'failed', failureReason: 'result_invalid' }],
    ['it returned an error', returned(new PermanentError('x')), {}, {}, { outcome: 'failed', failureReason: 'result_invalid' }],
    ['it returned a revoked proxy', returned(revoked()), {}, {}, { outcome: 'failed', failureReason: 'result_invalid' }],
  ]; // prettier-ignore

  test.each(rows)('%s', (_, outcome, attempt, context, expected) => {
    expect(decide(outcome, attempt, context)).toMatchObject(expected);
  });

  test('every settlement carries its attempt, token and last progress, and nothing else of the job', () => {
    const progress = { value: 40, message: 'half' };
    const address = { scope: 'acme', id: 'order-1', attempt: 1, token: anAttempt().token, progress };

    for (const [, outcome, , context] of rows) {
      const { outcome: word, ...rest } = decide(outcome, {}, { ...context, progress });
      const written = { resultRef: 0, failureReason: 0, error: 0, nextRunAt: 0 };

      expect(rest).toMatchObject(address);
      expect(Object.keys(rest).filter(key => !(key in address) && !(key in written))).toEqual([]);
      expect(['succeeded', 'failed', 'rescheduled', 'snoozed', 'interrupted']).toContain(word);
    }
  });

  test('every reason that is written is one of the stable ones', () => {
    const reasons = rows.flatMap(([, outcome, attempt, context]) => {
      const settlement = decide(outcome, attempt, context);
      return 'failureReason' in settlement ? [settlement.failureReason] : [];
    });

    expect([...new Set(reasons)].filter(reason => !failureReasons.includes(reason))).toEqual([]);
    expect(new Set(reasons)).toEqual(
      new Set([
        'handler_error', 'attempts_exhausted', 'permanent_error', 'throttled', 'timeout', 'retry_lifetime_expired', 'payload_invalid', 'result_invalid', 'cancel_requested',
      ]),
    ); // prettier-ignore
  });

  test.each([broken, permanent, throttled, timedOut, cancelled, invalid])(
    'an error is written as text: %#',
    outcome => {
      expect(decide(outcome)).toMatchObject({ error: expect.stringMatching(/Error: .+\n {4}at /) });
    },
  );

  test('what a handler wrongly returned is not written', () => {
    const settlement = decide(returned('secret\u0000'));

    expect(settlement).toMatchObject({
      error: expect.stringMatching(
        /^ResultInvalidError: A handler returns nothing or .*; it returned text of 7 characters\./,
      ),
    });
    expect(JSON.stringify(settlement)).not.toContain('secret');
  });

  test('of what a handler wrongly returned its type is written', () => {
    expect(decide(returned({ ok: true }))).toMatchObject({
      error: expect.stringContaining('it returned a value of type object.'),
    });
  });

  test('whatever is thrown and whatever the policy, the next run is a whole instant that a column holds', () => {
    const errors = [
      new Error('x'), new RetryAfterError(0.5), new RetryAfterError('36525d'), new RetryAfterError(new Date(8.64e15)),
      new SnoozeError(0.0001), new SnoozeError('36525d'), new SnoozeError(new Date(-8.64e15)),
    ]; // prettier-ignore
    const policies = [
      {}, { base: 0, cap: 0 }, { base: '36525d', cap: '36525d', jitter: 1 }, { base: 0.3, factor: 1.1 }, { factor: Number.MAX_VALUE },
    ].map(policy => aPolicy(policy as object)); // prettier-ignore

    for (const error of errors) {
      for (const policy of policies) {
        for (const failureCount of [0, 1, 63, 64, 1100]) {
          const settlement = decide(threw(error), { failureCount }, { policy, random: 0.987654321 });
          const { nextRunAt } = settlement as { nextRunAt: number };
          expect(Number.isSafeInteger(nextRunAt) && nextRunAt >= now && nextRunAt <= latestInstant).toBe(true);
        }
      }
    }
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
