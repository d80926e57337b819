import { describe, expect, test } from '@jest/globals';
import { classify } from '../../src/core/classification.ts';
import { InvalidSubmissionError } from '../../src/core/errors.ts';
import {
  KeyInProgressError,
  PermanentError,
  ResultInvalidError,
  RetryAfterError,
  SnoozeError,
} from '../../src/core/handler-errors.ts';
import { now } from './builders.ts';

const minute = 60_000_000;
const transient = { kind: 'transient' };
const permanent = { kind: 'permanent' };
const refuse = () => {
  throw new Error('a trap');
};

describe('errors of ours', () => {
  test('a PermanentError is permanent', () => {
    expect(classify(new PermanentError('declined'), now)).toEqual(permanent);
  });

  test.each([
    ['milliseconds', 60_000, now + minute],
    ['a duration', '1m' as const, now + minute],
    ['an instant', new Date((now + minute) / 1000), now + minute],
    ['an instant that has passed', new Date(0), now],
    ['no time at all', 0, now],
  ])('a RetryAfterError with %s is throttled until then, a SnoozeError snoozed', (_, delay, at) => {
    expect(classify(new RetryAfterError(delay), now)).toEqual({ kind: 'throttled', at });
    expect(classify(new SnoozeError(delay), now)).toEqual({ kind: 'snoozed', at });
  });

  test('a KeyInProgressError is snoozed for its delay', () => {
    const error = new KeyInProgressError({ scope: '', id: 'a' }, 'key', 60_000);

    expect(classify(error, now)).toEqual({ kind: 'snoozed', at: now + minute });
    expect(classify(new Error('wrapped', { cause: error }), now)).toEqual({ kind: 'snoozed', at: now + minute });
  });

  test('a ResultInvalidError is that', () => {
    expect(classify(new ResultInvalidError('too long'), now)).toEqual({ kind: 'result_invalid' });
  });

  test('an instant is kept as it was when the error was made', () => {
    const instant = new Date((now + minute) / 1000);
    const error = new RetryAfterError(instant);

    instant.setTime(NaN);

    expect(classify(error, now)).toEqual({ kind: 'throttled', at: now + minute });
  });

  test('a class that extends one of ours is one of ours', () => {
    class CardDeclinedError extends PermanentError {}

    expect(classify(new CardDeclinedError('declined'), now)).toEqual(permanent);
  });

  test('other errors of this library ask for nothing', () => {
    expect(classify(new InvalidSubmissionError('payload', 'be JSON'), now)).toEqual(transient);
  });

  test('an error of another copy of this package is known by its symbol', () => {
    const foreign = Object.assign(new Error('declined'), {
      code: 'PERMANENT',
      [Symbol.for('mikro-orm-jobs.error')]: true,
    });

    expect(classify(foreign, now)).toEqual(permanent);
  });

  test.each(['soon', NaN, -1, new Date(NaN), undefined, null, { ms: 5 }])(
    'an error of another copy with a delay that is none, %p, is transient',
    delay => {
      const marked = { [Symbol.for('mikro-orm-jobs.error')]: true, code: 'SNOOZE', delay };

      expect(classify(marked, now)).toEqual(transient);
    },
  );

  test.each(['PERMANENT', 'permanent_error'])('a stranger with the code %s is no error of ours', code => {
    expect(classify(Object.assign(new Error('x'), { code, name: 'PermanentError' }), now)).toEqual(transient);
  });
});

describe('wrapped errors', () => {
  test('a cause is looked at, however deep', () => {
    let error: Error = new PermanentError('declined');
    for (let depth = 0; depth < 50; depth++) {
      error = new Error('wrapped', { cause: error });
    }

    expect(classify(error, now)).toEqual(permanent);
  });

  test('the outermost error of ours decides', () => {
    const snoozed = new PermanentError('outer', { cause: new SnoozeError('1m') });
    const throttled = new Error('outer', {
      cause: new RetryAfterError('1m', 'busy', { cause: new PermanentError('inner') }),
    });

    expect(classify(snoozed, now)).toEqual(permanent);
    expect(classify(throttled, now)).toMatchObject({ kind: 'throttled' });
  });

  test('the errors of an AggregateError are looked at, the first of ours decides', () => {
    const errors = [new Error('a'), new RetryAfterError('1m'), new PermanentError('b')];

    expect(classify(new AggregateError(errors), now)).toEqual({ kind: 'throttled', at: now + minute });
  });

  test('what is nearer decides before what is deeper', () => {
    const deeper = new Error('a', { cause: new PermanentError('deeper') });

    expect(classify(new AggregateError([deeper, new SnoozeError('1m')]), now)).toMatchObject({ kind: 'snoozed' });
  });
});

describe('what is thrown may be anything, and it is transient', () => {
  const circular = new Error('circular');
  circular.cause = new Error('inner', { cause: circular });
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'PERMANENT'],
    ['a number', 0],
    ['a BigInt', 1n],
    ['a symbol', Symbol.for('mikro-orm-jobs.error')],
    ['a plain object', { code: 'PERMANENT' }],
    ['a TypeError', new TypeError('x is not a function')],
    ['an AbortError of its own', new DOMException('aborted', 'AbortError')],
    ['circular causes', circular],
    ['a proxy whose traps throw', new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse })],
    ['a proxy that has everything', new Proxy({}, { has: () => true, get: () => undefined })],
    ['a proxy of a function', new Proxy(refuse, { get: refuse, has: refuse })],
    ['a revoked proxy', revoked],
    ['a cause that throws', Object.defineProperty(new Error('x'), 'cause', { get: refuse })],
    ['errors that are no list', Object.assign(new Error('x'), { errors: { length: 1e9 } })],
    ['an endless graph', endless()],
  ])('%s', (_, thrown) => {
    expect(classify(thrown, now)).toEqual(transient);
  });

  test('behind a getter that throws nothing is found, beside it everything', () => {
    const broken = Object.defineProperty(new Error('x'), 'cause', { get: refuse });

    expect(classify(new AggregateError([broken, new PermanentError('y')]), now)).toEqual(permanent);
  });
});

function endless(): object {
  return { get errors() { return Array.from({ length: 100 }, endless); } }; // prettier-ignore
}
