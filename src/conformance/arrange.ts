import { assert } from './assert.ts';
import type { Attempt, AttemptRef, Settlement } from '../core/attempt.ts';
import { defineJob } from '../core/definition.ts';
import type { JobKey } from '../core/job-key.ts';
import type { RecurringUpsert } from '../core/recurring.ts';
import type { AttemptSnapshot, JobSnapshot } from '../core/snapshot.ts';
import type { JobState } from '../core/states.ts';
import type { SettleAnswer } from '../core/store.ts';
import type { Submission } from '../core/submission.ts';
import type { Micros } from '../core/time.ts';
import {
  aRecurringJob,
  aSubmission,
  failed,
  interrupted,
  keyOf,
  rescheduled,
  snoozed,
  succeeded,
  theExecutor,
  type RecurringGiven,
  type SubmissionGiven,
} from './builders.ts';
import type { Handle } from './harness.ts';

type On = Pick<Handle, 'store'>;

/** For jobs that the claims of a fact must not meet: those of `aClaim()` ask for another definition. */
export const background = defineJob<unknown>()({ name: 'conformance.background' });

export async function submitted({ store }: On, given: SubmissionGiven = {}): Promise<Submission> {
  const submission = aSubmission(given);
  await store.submit([submission]);

  return submission;
}

/** A job of its own that runs, as the attempt that owns it. */
export async function started(on: On, given: SubmissionGiven = {}, executorId = theExecutor): Promise<Attempt> {
  return startOf(on, await submitted(on, given), executorId);
}

/** Starts a job that can be started. */
export async function startOf({ store }: On, key: JobKey, executorId = theExecutor): Promise<Attempt> {
  const attempt = await store.tryStart(keyOf(key), executorId);
  assert.ok(attempt, `job "${key.id}" is queued, due and has starts left, but tryStart() answered null`);

  return attempt;
}

export async function settled({ store }: On, settlement: Settlement): Promise<SettleAnswer> {
  return only(await store.settle([settlement]));
}

/** A job of its own that has come to a state by the calls of the contract. */
export async function aJobIn(on: On, state: JobState, given: SubmissionGiven = {}): Promise<JobKey> {
  switch (state) {
    case 'queued':
      return keyOf(await submitted(on, given));
    case 'awaiting': {
      const parent = await submitted(on, { definition: background, scope: given.scope ?? '' });
      return keyOf(await submitted(on, { ...given, after: [parent] }));
    }
    case 'running':
      return keyOf(await started(on, given));
    case 'cancelled': {
      const key = await submitted(on, given);
      await on.store.cancel(keyOf(key), {});
      return keyOf(key);
    }
    case 'succeeded':
    case 'failed':
    case 'interrupted': {
      const attempt = await started(on, given);
      await on.store.settle([{ succeeded, failed, interrupted }[state](attempt)]);
      return keyOf(attempt);
    }
  }
}

/** A parent that runs, and the job that waits for it. */
export async function aFamily(on: On): Promise<readonly [parent: Attempt, child: JobKey]> {
  const parent = await started(on);
  return [parent, keyOf(await submitted(on, { after: [keyOf(parent)] }))];
}

export async function storedRecurring(
  { recurring }: Pick<Handle, 'recurring'>,
  nextFireAt: Micros | null,
  given: RecurringGiven = {},
): Promise<RecurringUpsert> {
  const job = aRecurringJob(nextFireAt, given);
  await recurring.upsertRecurring(job);

  return job;
}

/** A settlement of every outcome; those that queue the job again make it due at once. */
export const settlements: Readonly<Record<Settlement['outcome'], (attempt: Attempt) => Settlement>> = {
  succeeded: attempt => succeeded(attempt),
  failed: attempt => failed(attempt),
  interrupted: attempt => interrupted(attempt),
  rescheduled: attempt => rescheduled(attempt, attempt.startedAt),
  snoozed: attempt => snoozed(attempt, attempt.startedAt),
};
export const outcomes = Object.keys(settlements) as Array<Settlement['outcome']>;

/** The job, which must be there. */
export async function jobOf({ store }: On, key: JobKey): Promise<JobSnapshot> {
  const job = await store.get(keyOf(key));
  assert.ok(job, `there is no job "${key.id}" in scope "${key.scope}"`);

  return job;
}

export async function stateOf(on: On, key: JobKey): Promise<JobState> {
  return (await jobOf(on, key)).state;
}

export function statesOf(on: On, keys: readonly JobKey[]): Promise<JobState[]> {
  return Promise.all(keys.map(key => stateOf(on, key)));
}

/** Which attempt of the job it was. */
export async function attemptOf({ store }: On, ref: AttemptRef): Promise<AttemptSnapshot> {
  const attempt = (await store.attempts(keyOf(ref))).find(({ attempt }) => attempt === ref.attempt);
  assert.ok(attempt, `job "${ref.id}" has no attempt ${ref.attempt}`);

  return attempt;
}

export async function attemptStatesOf({ store }: On, key: JobKey): Promise<string[]> {
  return (await store.attempts(keyOf(key))).map(({ state }) => state);
}

/** The one element of a list. */
export function only<T>(list: readonly T[]): T {
  assert.equal(list.length, 1, `expected one answer for one question, got ${list.length}`);
  return list[0]!;
}

export function idsOf(keys: ReadonlyArray<{ readonly id: string }>): string[] {
  return keys.map(({ id }) => id);
}

/** These fields have these values; the others may have any. */
export function assertHas<T extends object>(actual: T | null | undefined, expected: Partial<T>): void {
  assert.ok(actual, 'there is nothing to compare');
  const named = Object.keys(expected).map(field => [field, actual[field as keyof T]]);

  assert.deepEqual(Object.fromEntries(named), expected);
}

/** The call leaves everything that can be read of the job as it was. */
export async function assertUnchanged<T>(on: On, key: JobKey, call: () => Promise<T>): Promise<T> {
  const before = await everythingOf(on, key);
  const answer = await call();

  assert.deepEqual(await everythingOf(on, key), before, 'the job or its attempts were changed');
  return answer;
}

/** Rejects with an error of this library, known by its code. */
export async function assertRejects(call: () => Promise<unknown>, code: string): Promise<Record<string, unknown>> {
  let thrown: unknown;
  await assert.rejects(
    async () => call(),
    (error: unknown) => {
      thrown = error;
      assert.equal(
        (error as { code?: unknown }).code,
        code,
        `expected an error of code ${code}, got: ${String(error)}`,
      );
      return true;
    },
  );

  return thrown as Record<string, unknown>;
}

async function everythingOf({ store }: On, key: JobKey): Promise<unknown> {
  return { job: await store.get(keyOf(key)), attempts: await store.attempts(keyOf(key)) };
}
