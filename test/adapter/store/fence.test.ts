import { expect, test } from '@jest/globals';
import type { Attempt, AttemptRef } from '../../../src/core/attempt.ts';
import { useJobs, type TestJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import {
  aRunningJob,
  deleteAttempts,
  ended,
  keyOf,
  refOf,
  rescheduled,
  setColumns,
  snoozed,
  start,
  stored,
  succeeded,
} from './given.ts';

/** Every call that writes behind a token, and what it answers to one that is stale. */
const calls: Array<{
  call: string;
  ask: (on: TestJobs, attempts: readonly AttemptRef[]) => Promise<unknown[]>;
  owner: unknown;
  lost: unknown;
  missing: unknown;
}> = [
  {
    call: 'progress',
    ask: ({ store }, attempts) => store.progress(attempts.map(attempt => ({ ...attempt, value: 99, message: 'late' }))),
    owner: { status: 'active', written: true },
    lost: { status: 'ended', written: false },
    missing: { status: 'ended', written: false },
  },
  {
    call: 'settle as succeeded',
    ask: ({ store }, attempts) => store.settle(attempts.map(attempt => succeeded(attempt, { resultRef: 'late' }))),
    owner: { answer: 'settled', state: 'succeeded' },
    lost: { answer: 'lost' },
    missing: { answer: 'attempt_missing' },
  },
  {
    call: 'settle as failed',
    ask: ({ store }, attempts) => store.settle(attempts.map(attempt => ended(attempt, 'failed', { error: 'late' }))),
    owner: { answer: 'settled', state: 'failed' },
    lost: { answer: 'lost' },
    missing: { answer: 'attempt_missing' },
  },
  {
    call: 'settle as rescheduled',
    ask: ({ store }, attempts) => store.settle(attempts.map(attempt => rescheduled(attempt, { error: 'late' }))),
    owner: { answer: 'settled', state: 'queued' },
    lost: { answer: 'lost' },
    missing: { answer: 'attempt_missing' },
  },
  {
    call: 'settle as snoozed',
    ask: ({ store }, attempts) => store.settle(attempts.map(attempt => snoozed(attempt))),
    owner: { answer: 'settled', state: 'queued' },
    lost: { answer: 'lost' },
    missing: { answer: 'attempt_missing' },
  },
  {
    call: 'release',
    ask: ({ store }, attempts) => store.release(attempts),
    owner: 'released',
    lost: 'lost',
    missing: 'attempt_missing',
  },
  {
    call: 'recover',
    ask: ({ store }, attempts) => store.recover(attempts, { requeue: 'always', reason: 'lease_lapsed' }),
    owner: 'queued',
    lost: 'lost',
    missing: 'attempt_missing',
  },
];

/** Each way in which an attempt may have lost its job: what becomes of it, and the reference that is stale then. */
const losses: Array<{ loss: string; lose: (on: TestJobs, attempt: Attempt) => Promise<AttemptRef> }> = [
  {
    loss: 'has a token of nobody',
    lose: async (_, attempt) => ({ ...refOf(attempt), token: '00000000-0000-4000-8000-000000000000' }),
  },
  { loss: 'has an empty token', lose: async (_, attempt) => ({ ...refOf(attempt), token: '' }) },
  {
    loss: 'has its token in capitals',
    lose: async (_, attempt) => ({ ...refOf(attempt), token: attempt.token.toUpperCase() }),
  },
  { loss: 'has the ordinal of a later attempt', lose: async (_, attempt) => ({ ...refOf(attempt), attempt: 2 }) },
  { loss: 'has the ordinal of no attempt', lose: async (_, attempt) => ({ ...refOf(attempt), attempt: 0 }) },
  { loss: 'has the id of no job', lose: async (_, attempt) => ({ ...refOf(attempt), id: 'nobody' }) },
  { loss: 'has another scope', lose: async (_, attempt) => ({ ...refOf(attempt), scope: 'other' }) },
  {
    loss: 'sees another token on its job',
    lose: async ({ orm }, attempt) => {
      await setColumns(orm, attempt, { attempt_token: '00000000-0000-4000-8000-000000000000' });
      return refOf(attempt);
    },
  },
  {
    loss: 'was recovered into the queue',
    lose: async ({ store }, attempt) => {
      await store.recover([attempt], { requeue: 'always', reason: 'shutdown' });
      return refOf(attempt);
    },
  },
  {
    loss: 'was recovered, and its job started again',
    lose: async (on, attempt) => {
      await on.store.recover([attempt], { requeue: 'always', reason: 'shutdown' });
      await start(on, keyOf(attempt));
      return refOf(attempt);
    },
  },
  {
    loss: 'was recovered as interrupted',
    lose: async ({ store }, attempt) => {
      await store.recover([attempt], { requeue: 'never', reason: 'instance_restart' });
      return refOf(attempt);
    },
  },
  {
    loss: 'was recovered as interrupted, and its job was retried',
    lose: async ({ store }, attempt) => {
      await store.recover([attempt], { requeue: 'never', reason: 'instance_restart' });
      await store.retry(keyOf(attempt), {});
      return refOf(attempt);
    },
  },
  {
    loss: 'was recovered as interrupted, and its job was retried and started again',
    lose: async (on, attempt) => {
      await on.store.recover([attempt], { requeue: 'never', reason: 'instance_restart' });
      await on.store.retry(keyOf(attempt), {});
      await start(on, keyOf(attempt));
      return refOf(attempt);
    },
  },
  {
    loss: 'was released',
    lose: async ({ store }, attempt) => {
      await store.release([attempt]);
      return refOf(attempt);
    },
  },
  {
    loss: 'was released, and its job started again with the same ordinal',
    lose: async (on, attempt) => {
      await on.store.release([attempt]);
      await start(on, keyOf(attempt));
      return refOf(attempt);
    },
  },
];

forEachDriver(driver => {
  const on = useJobs(driver);

  test.each(calls.flatMap(call => losses.map(loss => ({ ...call, ...loss }))))(
    '$call changes nothing for an attempt that $loss',
    async ({ ask, lost, lose }) => {
      const attempt = await aRunningJob(on);
      await on.store.progress([{ ...attempt, value: 40, message: 'on its way' }]);
      const stale = await lose(on, attempt);
      const before = await stored(on, attempt);

      expect(await ask(on, [stale])).toEqual([lost]);

      expect(await stored(on, attempt)).toEqual(before);
    },
  );

  test.each(calls)('$call changes nothing for a job whose attempt row is gone', async ({ ask, missing }) => {
    const attempt = await aRunningJob(on);
    await deleteAttempts(on.orm, attempt);
    const before = await stored(on, attempt);

    expect(await ask(on, [attempt])).toEqual([missing]);

    expect(await stored(on, attempt)).toEqual(before);
  });

  test.each(calls)('$call changes nothing for a job whose attempt row has another token', async ({ ask, missing }) => {
    const attempt = await aRunningJob(on);
    await on.orm.em.fork().execute(`update durable_job_attempt set token = 'another'`);
    const before = await stored(on, attempt);

    expect(await ask(on, [attempt])).toEqual([missing]);

    expect(await stored(on, attempt)).toEqual(before);
  });

  test.each(calls)(
    '$call judges the stale attempt of a job and its owner each by itself',
    async ({ ask, owner, lost }) => {
      const stale = await aRunningJob(on);
      await on.store.recover([stale], { requeue: 'always', reason: 'shutdown' });
      const current = await start(on, keyOf(stale));
      const [before] = (await stored(on, stale)).attempts;

      expect(await ask(on, [stale, { ...refOf(current), attempt: 7 }, current, refOf(stale)])).toEqual([
        lost,
        lost,
        owner,
        lost,
      ]);

      expect((await stored(on, stale)).attempts[0]).toEqual(before);
    },
  );

  test.each(calls)(
    '$call takes a thousand attempts, and no other along with a stale one',
    async ({ ask, owner, lost }) => {
      const fine = await aRunningJob(on);
      const stale = Array.from({ length: 999 }, (_, index) => ({ ...refOf(fine), id: `nobody-${index}` }));

      const answers = await ask(on, [...stale, fine]);

      expect(answers).toEqual([...stale.map(() => lost), owner]);
    },
  );
});
