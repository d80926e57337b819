import { describe, expect, test } from '@jest/globals';
import { EventStream } from '../../src/core/event-stream.ts';
import { systemClock } from '../../src/core/clock.ts';
import { controlOf } from '../../src/core/control.ts';
import { defineJob } from '../../src/core/definition.ts';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { consoleLogger } from '../../src/core/logger.ts';
import type { JobQueries } from '../../src/core/queries.ts';
import type { RecurringStore } from '../../src/core/recurring.ts';
import type { JobStore } from '../../src/core/store.ts';

const sendMail = defineJob<{ to: string }>()({ name: 'mail.send' });

const silence = new EventStream(consoleLogger);

/** A store that answers every call with what it was asked. */
function world() {
  const asked: unknown[][] = [];
  const entered: string[] = [];
  const store = new Proxy({} as JobStore & JobQueries, {
    get:
      (_, method) =>
      async (...args: unknown[]) =>
        void asked.push([method, ...args]),
  });

  const stores = { jobs: store, recurring: {} as RecurringStore };

  return {
    asked,
    entered,
    control: (scope: string) => controlOf(scope, stores, systemClock, operation => entered.push(operation), silence),
  };
}

test('every call is about a job of the scope, and no other', async () => {
  const { asked, control } = world();
  const acme = control('acme');

  await acme.get('a');
  await acme.attempts('a');
  await acme.cancel('a', { reason: 'withdrawn' });
  await acme.retry('a', { at: new Date(5) });
  await acme.resurrect('a', { repaired: sendMail.create({ to: 'ada' }), priority: 5, queue: 'slow', actor: 'ann' });
  await acme.runNow('a');

  const key = { scope: 'acme', id: 'a' };
  expect(asked).toEqual([
    ['get', key],
    ['attempts', key],
    ['cancel', key, { reason: 'withdrawn' }],
    ['retry', key, { at: 5000 }],
    [
      'resurrect',
      key,
      {
        repair: { name: 'mail.send', version: '1', payload: '{"to":"ada"}' },
        priority: 5,
        queue: 'slow',
        actor: 'ann',
      },
    ],
    ['runNow', key, {}],
  ]);
  expect(Object.isFrozen(acme)).toBe(true);
  expect(acme.scope).toBe('acme');
});

test('who acts is told to the store with every action', async () => {
  const { asked, control } = world();

  await control('').cancel('a', { actor: 'ann' });
  await control('').retry('a', { actor: 'ann' });
  await control('').resurrect('a', { actor: 'ann' });
  await control('').runNow('a', { actor: 'ann' });

  expect(asked.map(([, , options]) => options)).toEqual(Array.from({ length: 4 }, () => ({ actor: 'ann' })));
});

test('without options a cancel has no reason and a retry no time', async () => {
  const { asked, control } = world();

  await control('').cancel('a');
  await control('').cancel('a', { reason: undefined });
  await control('').retry('a');
  await control('').retry('a', { at: undefined });

  expect(asked.map(([, , options]) => options)).toEqual([{}, {}, {}, {}]);
});

test('every call says what it is before it reaches the store', async () => {
  const { entered, control } = world();
  const acme = control('acme');

  await Promise.all([
    acme.get('a'),
    acme.attempts('a'),
    acme.cancel('a'),
    acme.retry('a'),
    acme.resurrect('a'),
    acme.runNow('a'),
  ]);

  expect(entered).toEqual(['get()', 'attempts()', 'cancel()', 'retry()', 'resurrect()', 'runNow()']);
});

test('where a call may not be made, its promise rejects and the store is not asked', async () => {
  const { asked } = world();
  const stores = { jobs: {} as JobStore & JobQueries, recurring: {} as RecurringStore };
  const refuse = () => {
    throw new Error('not here');
  };
  const control = controlOf('acme', stores, systemClock, refuse, silence);

  await expect(control.get('a')).rejects.toThrow('not here');
  expect(asked).toEqual([]);
});

describe('refused before the store is asked', () => {
  test.each([null, undefined, 5, '\ud800', 'a\u0000'])('a scope that is %p', scope => {
    expect(() => world().control(scope as string)).toThrow(InvalidOptionError);
    expect(() => world().control(scope as string)).toThrow('expected `scope` to be well-formed text without NUL');
  });

  test.each([null, undefined, 5, '', 'a b', 'é', 'x'.repeat(129)])('an id that is %p', async id => {
    const { asked, control } = world();
    const acme = control('acme');

    for (const call of [acme.get, acme.attempts, acme.cancel, acme.retry, acme.resurrect, acme.runNow]) {
      await expect(call(id as string)).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'id' });
    }
    expect(asked).toEqual([]);
  });

  test.each([null, 5, '\udfff', 'a\u0000', 'x'.repeat(1025), '租'.repeat(342)])('a reason that is %p', async reason => {
    const { asked, control } = world();

    await expect(control('').cancel('a', { reason: reason as string })).rejects.toMatchObject({ option: 'reason' });
    expect(asked).toEqual([]);
  });

  test.each([
    ['priority', { priority: 1.5 }],
    ['priority', { priority: 2 ** 31 }],
    ['queue', { queue: '' }],
    ['queue', { queue: 'a\u0000' }],
    ['actor', { actor: '' }],
    ['actor', { actor: 'x'.repeat(256) }],
    ['repaired', { repaired: null }],
    ['repaired', { repaired: { name: 'mail.send', version: '1', payload: '{}' } }],
    ['payload', { payload: {} }],
  ])('a resurrection with a wrong %s: %j', async (option, options) => {
    const { asked, control } = world();

    await expect(control('').resurrect('a', options as never)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option,
    });
    expect(asked).toEqual([]);
  });

  test.each([null, 5, '2026-12-01', new Date(NaN), new Date(-1), new Date('2255-01-01T00:00:00.001Z')])(
    'a time that is %p',
    async at => {
      const { asked, control } = world();

      await expect(control('').retry('a', { at: at as Date })).rejects.toMatchObject({ option: 'at' });
      expect(asked).toEqual([]);
    },
  );
});

test.each(['', 'x'.repeat(1024), '租'.repeat(341), '🏭'])('a reason of up to 1 KiB is taken: %#', async reason => {
  const { asked, control } = world();

  await control('').cancel('a', { reason });

  expect(asked).toEqual([['cancel', { scope: '', id: 'a' }, { reason }]]);
});

test.each([new Date(0), new Date('2255-01-01T00:00:00Z')])('a time from 1970 to 2255 is taken: %p', async at => {
  const { asked, control } = world();

  await control('').retry('a', { at });

  expect(asked).toEqual([['retry', { scope: '', id: 'a' }, { at: at.getTime() * 1000 }]]);
});
