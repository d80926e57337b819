import { afterEach, expect, test } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Attempt } from '../../../src/core/attempt.ts';
import type { JobKey } from '../../../src/core/job-key.ts';
import { aClaim, aSubmission, someSubmissions, type TestJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { inParallel, openTransaction, race, useSeveralJobs } from './contention.ts';
import {
  aRunningJob,
  countJobs,
  dueJobs,
  ended,
  keyOf,
  rescheduled,
  someRunningJobs,
  start,
  stored,
  succeeded,
} from './given.ts';

forEachDriver(driver => {
  const isSqlite = driver === 'sqlite';
  const rounds = isSqlite ? 40 : 200;
  const atOnce = isSqlite ? 2 : 6;
  const all = useSeveralJobs(driver, isSqlite ? 2 : 4);
  const [on] = all as [TestJobs];
  const one = (round: number) => all[round % all.length]!.store;
  const other = (round: number) => all[(round + 1) % all.length]!.store;

  // Whatever won: no half of a move is left.
  afterEach(async () => expect(await inconsistencies(on)).toEqual([]));

  test('of many who claim at once, on connections of their own, each job goes to one', async () => {
    await dueJobs(on, [...someSubmissions(150, { queue: 'a' }), ...someSubmissions(150, { queue: 'b', priority: 1 })]);
    const claimAll = async (claimer: number) => {
      const claimed: Attempt[] = [];
      for (;;) {
        const { attempts, nextDueAt } = await one(claimer).claim(
          aClaim({ executorId: `executor-${claimer}`, limit: 7 }),
        );
        claimed.push(...attempts);
        if (nextDueAt === null) return claimed;
      }
    };

    const claimed = (await Promise.all(Array.from({ length: 8 }, (_, claimer) => claimAll(claimer)))).flat();

    expect(claimed).toHaveLength(300);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(300);
    expect(new Set(claimed.map(({ token }) => token)).size).toBe(300);
    expect(await countJobs(on, 'running')).toBe(300);
  });

  if (!isSqlite) {
    test('a claim locks what it takes and nothing above: who comes meanwhile gets the rest', async () => {
      await dueJobs(on, someSubmissions(10));
      const first = await openTransaction(on);

      const taken = await first.store.claim(aClaim({ executorId: 'executor-1', limit: 3 }));
      const rest = await other(0).claim(aClaim({ executorId: 'executor-2', limit: 10 }));
      await first.commit();

      expect(taken.attempts).toHaveLength(3);
      expect(rest.attempts).toHaveLength(7);
    });
  }

  test('of many who start one job at once, on connections of their own, one gets it', async () => {
    const keys = someSubmissions(isSqlite ? 5 : 20).map(keyOf);
    await dueJobs(
      on,
      keys.map(key => aSubmission(key)),
    );

    for (const key of keys) {
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, starter) => one(starter).tryStart(key, `executor-${starter}`)),
      );

      expect(answers.filter(answer => answer !== null)).toHaveLength(1);
    }
  });

  test('of a claim and a start of one job, one gets it', async () => {
    await dueJobs(on, someSubmissions(rounds));
    const keys = (await allKeys(on)).map(keyOf);

    const counts = await inParallel(keys, atOnce, async (key, round) => {
      const [claim, attempt] = await race(
        round,
        () => one(round).claim(aClaim({ limit: 1 })),
        () => other(round).tryStart(key, 'executor-2'),
      );
      return claim.attempts.length + (attempt === null ? 0 : 1);
    });

    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(await countJobs(on, 'running'));
  });

  test('a cancel and a success meet: either came first, and the job shows which', async () => {
    const attempts = await someRunningJobs(on, rounds);

    await inParallel(attempts, atOnce, async (attempt, round) => {
      const [cancelled, [settled]] = await race(
        round,
        () => one(round).cancel(keyOf(attempt), {}),
        () => other(round).settle([succeeded(attempt, { resultRef: 'mail/1' })]),
      );

      const { state, resultRef, cancelRequestedAt } = (await on.store.get(keyOf(attempt)))!;
      const legal = {
        cancelled: { cancelled: ['requested', 'cancelled'], resultRef: null, isMarked: true },
        succeeded: { cancelled: ['finished'], resultRef: 'mail/1', isMarked: false },
      }[state as 'cancelled' | 'succeeded'];
      expect(settled).toEqual({ answer: 'settled', state });
      expect(legal.cancelled).toContain(cancelled);
      expect({ resultRef, isMarked: cancelRequestedAt !== null }).toEqual({
        resultRef: legal.resultRef,
        isMarked: legal.isMarked,
      });
    });
  });

  test('a cancel and a reschedule meet: the job is never left queued with a mark, nor told finished', async () => {
    const attempts = await someRunningJobs(on, rounds);

    await inParallel(attempts, atOnce, async (attempt, round) => {
      const [cancelled] = await race(
        round,
        () => one(round).cancel(keyOf(attempt), {}),
        () => other(round).settle([rescheduled(attempt)]),
      );

      expect(['requested', 'cancelled']).toContain(cancelled);
      expect(await on.store.get(keyOf(attempt))).toMatchObject({ state: 'cancelled' });
    });
  });

  test.each(['claim', 'start'] as const)(
    'a cancel and a %s meet: the job is cancelled unstarted, or runs and is told',
    async by => {
      await dueJobs(on, someSubmissions(rounds));
      const keys = await allKeys(on);

      await inParallel(keys, atOnce, async (key, round) => {
        const begin = async () => {
          return by === 'claim'
            ? (await one(round).claim(aClaim({ limit: 1 }))).attempts[0]
            : await one(round).tryStart(key, 'executor-1');
        };
        const [cancelled] = await race(round, () => other(round).cancel(key, {}), begin);

        expect(['cancelled', 'requested']).toContain(cancelled);
        const { job, attempts } = await stored(on, key);
        expect({ state: job!.state, attempts: attempts.length }).toEqual(
          cancelled === 'cancelled' ? { state: 'cancelled', attempts: 0 } : { state: 'running', attempts: 1 },
        );
        expect(job!.cancel_requested_at).not.toBeNull();
      });
    },
  );

  test.each(['release', 'recover'] as const)('a cancel and a %s meet: in the end the job is cancelled', async by => {
    const attempts = await someRunningJobs(on, rounds);

    await inParallel(attempts, atOnce, async (attempt, round) => {
      const [cancelled] = await race(
        round,
        () => one(round).cancel(keyOf(attempt), {}),
        async (): Promise<unknown> =>
          by === 'release'
            ? other(round).release([attempt])
            : other(round).recover([attempt], { requeue: 'always', reason: 'shutdown' }),
      );

      expect(['cancelled', 'requested']).toContain(cancelled);
      expect(await on.store.get(keyOf(attempt))).toMatchObject({ state: 'cancelled' });
    });
  });

  test('a settlement and a recovery meet: one of them ends the attempt', async () => {
    const attempts = await someRunningJobs(on, rounds);

    await inParallel(attempts, atOnce, async (attempt, round) => {
      const [[settled], [recovered]] = await race(
        round,
        () => one(round).settle([succeeded(attempt)]),
        () => other(round).recover([attempt], { requeue: 'always', reason: 'lease_lapsed' }),
      );

      expect([settled!.answer, recovered]).toEqual(recovered === 'lost' ? ['settled', 'lost'] : ['lost', 'queued']);
    });
  });

  test('of several settlements of one attempt the first counts', async () => {
    const attempts = await someRunningJobs(on, rounds);

    await inParallel(attempts, atOnce, async (attempt, round) => {
      const [[success], [failure]] = await race(
        round,
        () => one(round).settle([succeeded(attempt)]),
        () => other(round).settle([ended(attempt, 'failed')]),
      );

      const { state } = (await on.store.get(keyOf(attempt)))!;
      expect([success, failure]).toEqual(
        state === 'succeeded'
          ? [{ answer: 'settled', state }, { answer: 'lost' }]
          : [{ answer: 'lost' }, { answer: 'settled', state }],
      );
    });
  });

  test('a retry and a failure meet: the job is queued or was not finished, never out of starts', async () => {
    const attempts = await someRunningJobs(on, rounds);

    await inParallel(attempts, atOnce, async (attempt, round) => {
      const [retried] = await race(
        round,
        () => one(round).retry(keyOf(attempt), {}),
        () => other(round).settle([ended(attempt, 'failed')]),
      );

      const { state } = (await on.store.get(keyOf(attempt)))!;
      expect([retried, state]).toEqual(retried === 'queued' ? ['queued', 'queued'] : ['not_finished', 'failed']);
    });
  });

  test('a cancel and a submission meet: the job is cancelled or was not there, never finished', async () => {
    await inParallel(someSubmissions(rounds), atOnce, async (submission, round) => {
      const [cancelled] = await race(
        round,
        () => one(round).cancel(keyOf(submission), {}),
        () => other(round).submit([submission]),
      );

      const { state } = (await on.store.get(submission))!;
      expect([cancelled, state]).toEqual(
        cancelled === 'cancelled' ? ['cancelled', 'cancelled'] : ['not_found', 'queued'],
      );
    });
  });

  test("a submission and the end of a key's holder meet: the key has one active job, and every answer is one that held it", async () => {
    for (let round = 0; round < rounds / 3; round++) {
      const uniqueKey = `key-${round}`;
      const holder = await aRunningJob(on, { uniqueKey });
      const submissions = someSubmissions(4, { uniqueKey });

      const [, results] = await race(
        round,
        () => one(round).settle([succeeded(holder)]),
        () => Promise.all(submissions.map((submission, index) => one(round + index).submit([submission]))),
      );

      const answers = results.flat();
      const created = answers.filter(answer => answer.created).map(({ job }) => job.id);
      expect(created.length).toBeLessThanOrEqual(1);
      for (const { job } of answers) expect([holder.id, ...created]).toContain(job.id);
      const stillThere = await on.store.submit([aSubmission({ uniqueKey })]);
      expect(stillThere[0]!.created).toBe(created.length === 0);
    }
  });

  test('equal submissions meet: one of them makes the job, all get it', async () => {
    for (let round = 0; round < rounds / 6; round++) {
      const submission = aSubmission();

      const results = await Promise.all(Array.from({ length: 8 }, (_, index) => one(index).submit([submission])));

      expect(results.flat().filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(results.flat().map(({ job }) => job.id))).toEqual(new Set([submission.id]));
    }
  });

  test('who reads while jobs move sees job and attempt together, and never "interrupted" before "queued"', async () => {
    const attempts = await someRunningJobs(on, isSqlite ? 30 : 100);
    let isDone = false;
    const seen = new Set<string>();
    const watch = async () => {
      while (!isDone) {
        for (const pair of await jobsWithAttempts(all.at(-1)!)) seen.add(pair);
        // With better-sqlite3 the reads alone would leave no turn to anybody else.
        await nextTurn();
      }
    };

    const move = async () => {
      for (const attempt of attempts) {
        await on.store.recover([attempt], { requeue: 'always', reason: 'shutdown' });
        const second = await start(on, keyOf(attempt));
        await on.store.settle([rescheduled(second)]);
        const third = await start(on, keyOf(attempt));
        await on.store.release([third]);
        const again = await start(on, keyOf(attempt));
        await on.store.settle([succeeded(again)]);
      }
      isDone = true;
    };
    await Promise.all([watch(), move()]);

    const legal = [
      'running: running',
      'queued: interrupted',
      'running: interrupted, running',
      'queued: interrupted, failed',
      'running: interrupted, failed, running',
      'succeeded: interrupted, failed, succeeded',
    ];
    expect([...seen].filter(pair => !legal.includes(pair))).toEqual([]);
    expect(seen.size).toBeGreaterThan(3);
  });
});

async function allKeys({ orm }: TestJobs): Promise<JobKey[]> {
  return (await orm.em.fork().execute('select scope, id from durable_job order by created_at')) as JobKey[];
}

/** Of every job, its state and those of its attempts, read in one statement. */
async function jobsWithAttempts({ orm }: TestJobs): Promise<string[]> {
  const rows = (await orm.em.fork().execute(
    `select j.id, j.state, a.ordinal, a.state as attempt_state from durable_job j
     left join durable_job_attempt a on a.scope_hash = j.scope_hash and a.job_id = j.id
     order by j.id, a.ordinal`,
  )) as { id: string; state: string; attempt_state: string }[];
  const pairs = new Map<string, string>();
  for (const { id, state, attempt_state: attempt } of rows) {
    pairs.set(id, pairs.has(id) ? `${pairs.get(id)}, ${attempt}` : `${state}: ${attempt}`);
  }

  return [...pairs.values()];
}

/** Jobs whose row and attempts contradict each other. */
async function inconsistencies({ orm }: TestJobs): Promise<unknown[]> {
  return orm.em.fork().execute(
    `select j.id, j.state, j.attempt_count, j.attempt_token, a.ordinal, a.state as attempt_state, a.token
     from durable_job j
     left join durable_job_attempt a on a.scope_hash = j.scope_hash and a.job_id = j.id and a.ordinal = j.attempt_count
     where (j.state = 'running') <> (a.state is not null and a.state = 'running')
        or (j.state = 'running' and j.attempt_token <> a.token)
        or (j.attempt_count > 0 and a.token is null)
        or (select count(*) from durable_job_attempt b where b.scope_hash = j.scope_hash and b.job_id = j.id) <> j.attempt_count
        or (j.state = 'succeeded' and a.state <> 'succeeded')
        or coalesce(j.result_ref, '') <> coalesce(a.result_ref, '')`,
  );
}
