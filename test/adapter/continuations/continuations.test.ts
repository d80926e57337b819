import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Attempt, Settlement } from '../../../src/core/attempt.ts';
import { defineJob } from '../../../src/core/definition.ts';
import type { JobState } from '../../../src/core/states.ts';
import type { Submission } from '../../../src/core/submission.ts';
import { resolveAwaiting } from '../../../src/executor/resolve-awaiting.ts';
import { useSeveral, type Host } from '../../engine/support/several.ts';
import { forEachDriver } from '../../support/orm.ts';
import { untilBlocked } from '../store/contention.ts';

const step = defineJob<{ n: number }>()({ name: 'step' });
const key = (id: string) => ({ scope: '', id });
const job = (id: string, ...after: string[]) => step.create({ n: 1 }, { id, after: after.map(key) });
const ends = ['succeeded', 'failed', 'interrupted'] as const;

forEachDriver(driver => {
  const { hosts } = useSeveral(driver, 3);
  const first = () => hosts[0]!;
  const store = () => first().jobs.store;
  const rounds = driver === 'postgresql' ? 300 : 20;
  beforeEach(() => store().register({ id: 'e', name: 'e', host: 'h', leaseUntil: null, metadata: {} }));

  describe('a job', () => {
    const orders = permutations(['a', 'b', 'c']);

    test.each(orders.map(order => [order.join(', ')]))(
      'starts when all three parents have succeeded: %s',
      async order => {
        await first().jobs.submit([job('a'), job('b'), job('c'), job('child', 'a', 'b', 'c')]);

        for (const [index, id] of order.split(', ').entries()) {
          expect(await stateOf('child')).toBe('awaiting');
          expect(await idsOf('queued')).not.toContain('child');
          await end(id, 'succeeded');
          expect(await stateOf('child')).toBe(index === 2 ? 'queued' : 'awaiting');
        }
      },
    );

    test.each(orders.map(order => [order.join(', ')]))(
      'is cancelled with the first parent that fails: %s',
      async order => {
        await first().jobs.submit([job('a'), job('b'), job('c'), job('child', 'a', 'b', 'c')]);
        const [before, failing, after] = order.split(', ') as [string, string, string];

        await end(before, 'succeeded');
        await end(failing, 'failed');
        expect(await first().jobs.scope('').get('child')).toMatchObject({
          state: 'cancelled',
          failureReason: 'cancelled_by_parent',
          attemptCount: 0,
        });

        await end(after, 'succeeded');
        expect(await stateOf('child')).toBe('cancelled');
      },
    );

    const chain = [job('a'), job('b', 'a'), job('c', 'a', 'b'), job('d', 'c')];

    test.each(permutations([0, 1, 2, 3]).map(order => [order]))(
      'may be given with its parents in any order: %j',
      async order => {
        const results = await first().jobs.submit(order.map(index => chain[index]!));

        expect(results.map(({ created, job: { id, state } }) => [id, state, created])).toEqual(
          order.map(index => [chain[index]!.id, index === 0 ? 'queued' : 'awaiting', true]),
        );
      },
    );

    const before: Array<[parent: JobState, child: JobState]> = [
      ['queued', 'awaiting'],
      ['running', 'awaiting'],
      ['awaiting', 'awaiting'],
      ['interrupted', 'awaiting'],
      ['succeeded', 'queued'],
      ['failed', 'cancelled'],
      ['cancelled', 'cancelled'],
    ];

    for (const way of ['submitted', 'staged'] as const) {
      test.each(before)(`${way} after a parent that is %s is answered as %s`, async (parent, child) => {
        await aJobThatIs(parent);

        const { job: answered } = await (way === 'submitted'
          ? first().jobs.submit(job('child', 'parent'))
          : first()
              .orm.em.fork()
              .transactional(em => first().jobs.stage(em, job('child', 'parent'))));

        expect(answered.state).toBe(child);
        expect(await stateOf('child')).toBe(child);
      });
    }

    test('waits while a parent is interrupted, and goes on with it', async () => {
      await first().jobs.submit([job('a'), job('child', 'a')]);
      await end('a', 'interrupted');
      await store().resolve({ limit: 100 });
      expect(await stateOf('child')).toBe('awaiting');

      expect(await store().retry(key('a'), {})).toBe('queued');
      expect(await stateOf('child')).toBe('awaiting');
      await end('a', 'succeeded');
      expect(await stateOf('child')).toBe('queued');
    });

    test('waits while a parent is retried, rescheduled, snoozed, released or recovered to be run again', async () => {
      await first().jobs.submit([step.create({ n: 1 }, { id: 'a', onInterrupt: 'requeue' }), job('child', 'a')]);
      const attempt = async () => (await store().tryStart(key('a'), 'e'))!;
      const again = { progress: null, nextRunAt: 0, failureReason: 'handler_error', error: 'no' } as const;

      await store().release([await attempt()]);
      await store().recover([await attempt()], { requeue: 'declared', reason: 'shutdown' });
      await store().settle([{ ...(await attempt()), ...again, outcome: 'snoozed' }]);
      await store().settle([{ ...(await attempt()), ...again, outcome: 'rescheduled' }]);
      expect([await stateOf('a'), await stateOf('child')]).toEqual(['queued', 'awaiting']);

      await end('a', 'succeeded');
      expect(await stateOf('child')).toBe('queued');
    });

    test('whose parent is gone is cancelled', async () => {
      await first().jobs.submit([job('a'), job('child', 'a'), job('grandchild', 'child')]);
      await first().orm.em.fork().execute(`delete from durable_job where id = 'a'`);

      expect(await store().resolve({ limit: 100 })).toEqual({ queued: 0, cancelled: 2 });
      expect(await first().jobs.scope('').get('child')).toMatchObject({
        state: 'cancelled',
        failureReason: 'cancelled_by_parent',
      });
    });

    test('that was cancelled by a parent frees its unique key', async () => {
      const child = step.create({ n: 1 }, { id: 'child', uniqueKey: 'k', after: [key('a')] });
      await first().jobs.submit([job('a'), child]);
      await end('a', 'failed');

      expect(await first().jobs.submit(step.create({ n: 1 }, { uniqueKey: 'k' }))).toMatchObject({ created: true });
    });

    test('that waits is what the same request answers, whatever parents that one names', async () => {
      await first().jobs.submit([job('a'), job('b'), job('child', 'a')]);

      expect(await first().jobs.submit(job('child', 'b'))).toMatchObject({ created: false, matched: 'identity', job: { state: 'awaiting' } }); // prettier-ignore
      await end('a', 'succeeded');
      expect(await stateOf('child')).toBe('queued');
    });

    test('keeps its due time while it waits', async () => {
      const notBefore = new Date('2031-01-01T00:00Z');
      await first().jobs.submit([job('a'), step.create({ n: 1 }, { id: 'child', notBefore, after: [key('a')] })]);
      await end('a', 'succeeded');

      expect(await first().jobs.scope('').get('child')).toMatchObject({ state: 'queued', nextRunAt: notBefore });
      expect(await store().tryStart(key('child'), 'e')).toBeNull();
    });

    test('may be made to run only by its parents: not by runNow, not by a claim', async () => {
      await first().jobs.submit([job('a'), job('child', 'a')]);

      expect(await store().runNow(key('child'))).toBe('not_queued');
      expect(await store().tryStart(key('child'), 'e')).toBeNull();
      const { attempts } = await store().claim({ executorId: 'e', definitions: [step], queues: null, limit: 10 });
      expect(attempts.map(({ id }) => id)).toEqual(['a']);
    });
  });

  describe('a retry', () => {
    test('of a child looks at its parents again', async () => {
      await first().jobs.submit([job('a'), job('b', 'a'), job('c', 'b')]);
      await end('a', 'failed');
      expect([await stateOf('b'), await stateOf('c')]).toEqual(['cancelled', 'cancelled']);

      expect(await store().retry(key('c'), {})).toBe('parents_not_succeeded');
      expect(await store().retry(key('b'), {})).toBe('parents_not_succeeded');
      expect(await store().retry(key('a'), {})).toBe('queued');
      expect([await stateOf('b'), await stateOf('c')]).toEqual(['cancelled', 'cancelled']);
      expect(await store().retry(key('b'), {})).toBe('awaiting');
      expect(await store().retry(key('c'), {})).toBe('awaiting');
      await end('a', 'succeeded');
      expect([await stateOf('b'), await stateOf('c')]).toEqual(['queued', 'awaiting']);
    });

    test('of a child whose parents have succeeded since queues it', async () => {
      await first().jobs.submit([job('a'), job('b', 'a')]);
      await store().cancel(key('b'), {});
      await end('a', 'succeeded');

      expect(await store().retry(key('b'), {})).toBe('queued');
      expect(await first().jobs.scope('').get('b')).toMatchObject({ state: 'queued', failureReason: null });
    });
  });

  describe('a cancel', () => {
    test('of one in the middle takes what waits for it, and nothing else', async () => {
      await first().jobs.submit([job('a'), job('b', 'a'), job('c', 'b'), job('d', 'c'), job('sibling', 'a'), job('both', 'sibling', 'd')]); // prettier-ignore

      expect(await store().cancel(key('b'), { reason: 'enough' })).toBe('cancelled');

      expect(await idsOf('cancelled')).toEqual(['b', 'both', 'c', 'd']);
      expect([await stateOf('a'), await stateOf('sibling')]).toEqual(['queued', 'awaiting']);
      expect(await first().jobs.scope('').get('b')).toMatchObject({ failureReason: 'cancel_requested' });
      expect(await first().jobs.scope('').get('d')).toMatchObject({ failureReason: 'cancelled_by_parent' });
    });

    test('of a running parent takes its children when it has ended, not before', async () => {
      await first().jobs.submit([job('a'), job('b', 'a')]);
      const attempt = (await store().tryStart(key('a'), 'e'))!;

      expect(await store().cancel(key('a'), {})).toBe('requested');
      expect(await stateOf('b')).toBe('awaiting');
      await store().settle([{ ...attempt, progress: null, outcome: 'succeeded', resultRef: 'x' }]);
      expect([await stateOf('a'), await stateOf('b')]).toEqual(['cancelled', 'cancelled']);
    });
  });

  describe('a cascade', () => {
    test('goes down five hundred levels', async () => {
      await first().jobs.submit([job('0'), ...range(1, 500).map(n => job(`${n}`, `${n - 1}`))]);

      await end('0', 'failed');

      expect(await countOf('cancelled')).toBe(500);
    });

    test('takes five hundred children and their children', async () => {
      const children = range(1, 500).flatMap(n => [job(`c${n}`, 'root'), job(`g${n}`, `c${n}`)]);
      await first().jobs.submit([job('root'), ...children]);

      await end('root', 'failed');

      expect(await countOf('cancelled')).toBe(1000);
    });

    test('moves on five hundred children at once', async () => {
      await first().jobs.submit([job('root'), ...range(1, 500).map(n => job(`c${n}`, 'root'))]);

      await end('root', 'succeeded');

      expect([await countOf('queued'), await countOf('awaiting')]).toEqual([500, 0]);
    });
  });

  describe('what can’t be', () => {
    test('a parent that is nowhere takes the batch back and leaves the host’s transaction usable', async () => {
      const { jobs, orm } = first();

      await orm.em.fork().transactional(async em => {
        await expect(jobs.stage(em, [job('a'), job('b', 'a'), job('c', 'nowhere')])).rejects.toMatchObject({
          code: 'PARENT_NOT_FOUND',
          parentId: 'nowhere',
        });
        await jobs.stage(em, [job('d'), job('e', 'd')]);
      });

      expect(await jobs.admin.counts()).toMatchObject({ total: 2, byState: { queued: 1, awaiting: 1 } });
      expect(await dependencies()).toEqual(['e <- d']);
      await expect(jobs.submit([job('x'), job('y', 'nowhere')])).rejects.toMatchObject({ code: 'PARENT_NOT_FOUND' });
      expect(await jobs.scope('').get('x')).toBeNull();
    });

    test('a conflict takes the dependencies of its batch back', async () => {
      const { jobs, orm } = first();
      await jobs.submit(job('taken'));

      await orm.em.fork().transactional(async em => {
        const taken = step.create({ n: 2 }, { id: 'taken' });
        await expect(jobs.stage(em, [job('a'), job('b', 'a'), taken])).rejects.toMatchObject({ code: 'JOB_IDENTITY_CONFLICT' }); // prettier-ignore
      });

      expect((await jobs.admin.list()).jobs.map(({ id }) => id)).toEqual(['taken']);
      expect(await dependencies()).toEqual([]);
    });

    test('a rollback leaves no job and no dependency, nor does one of a savepoint', async () => {
      const { jobs, orm } = first();

      await orm.em.fork().transactional(async em => {
        await jobs.stage(em, job('a'));
        await em
          .transactional(async inner => {
            await jobs.stage(inner, job('b', 'a'));
            throw new Error('inner');
          })
          .catch(() => {});
        await jobs.stage(em, job('c', 'a'));
      });
      expect(await dependencies()).toEqual(['c <- a']);

      const outer = orm.em.fork().transactional(async em => {
        await jobs.stage(em, job('d', 'a'));
        throw new Error('outer');
      });
      await expect(outer).rejects.toThrow('outer');
      expect(await dependencies()).toEqual(['c <- a']);
    });

    test('a parent of another scope is refused, and one of the same id there is none', async () => {
      await first().jobs.submit(step.create({ n: 1 }, { id: 'a', scope: 'tenant' }));

      expect(() => step.create({ n: 1 }, { after: [{ scope: 'tenant', id: 'a' }] })).toThrow(
        expect.objectContaining({ code: 'INVALID_SUBMISSION', field: 'after' }),
      );
      await expect(first().jobs.submit(job('b', 'a'))).rejects.toMatchObject({ code: 'PARENT_NOT_FOUND' });
    });

    test('more than a hundred parents are refused, a hundred are waited for, one named twice is one', async () => {
      const parents = range(1, 101).map(n => `p${n}`);
      expect(() => job('child', ...parents)).toThrow(
        expect.objectContaining({ code: 'INVALID_SUBMISSION', field: 'after' }),
      );

      const hundred = parents.slice(0, 100);
      await first().jobs.submit([...hundred.map(id => job(id)), job('child', ...hundred), job('twice', 'p1', 'p1')]);
      for (const id of hundred.slice(0, 99)) await end(id, 'succeeded');
      expect([await stateOf('child'), await stateOf('twice')]).toEqual(['awaiting', 'queued']);
      await end('p100', 'succeeded');
      expect(await stateOf('child')).toBe('queued');
    });

    test('jobs that would wait for each other are refused', async () => {
      const circle = [job('a', 'c'), job('b', 'a'), job('c', 'b')];

      await expect(first().jobs.submit(circle)).rejects.toMatchObject({ code: 'INVALID_SUBMISSION', field: 'after' });
      expect(() => job('self', 'self')).toThrow(
        expect.objectContaining({ code: 'INVALID_SUBMISSION', field: 'after' }),
      );
      expect((await first().jobs.admin.counts()).total).toBe(0);
    });
  });

  describe('none is left behind', () => {
    test('when its parent ends beside the transaction that stages it, in a process that runs no executor', async () => {
      await eachRound(async round => {
        const attempt = await aRunning(`p${round}`);
        await Promise.all([
          stage(first(), job(`c${round}`, `p${round}`)),
          hosts[1]!.jobs.store.settle([outcome(attempt, round % 3 === 0 ? 'failed' : 'succeeded')]),
        ]);
      });

      expect(await countOf('awaiting')).toBe(0);
      await expectEachToFollow();
    });

    if (driver === 'postgresql') {
      test('when its parent ends before the transaction that stages it commits, in a process that runs no executor', async () => {
        const [good, bad] = [await aRunning('good'), await aRunning('bad')];
        const em = first().orm.em.fork();
        await em.begin();
        await first().jobs.stage(em, [job('a', 'good'), job('b', 'bad'), job('c', 'b')]);
        await hosts[1]!.jobs.store.settle([outcome(good, 'succeeded'), outcome(bad, 'failed')]);

        await em.commit();

        expect([await stateOf('a'), await stateOf('b'), await stateOf('c')]).toEqual([
          'queued',
          'cancelled',
          'cancelled',
        ]);
      });

      test.each(['alone', 'in a group, behind another'] as const)(
        'when it is committed while the settlement of its parent waits for a lock: %s',
        async how => {
          const [locked, parent] = [await aRunning('a'), await aRunning('b')];
          const held = how === 'alone' ? parent : locked;
          const lock = hosts[2]!.orm.em.fork();
          await lock.begin();
          await lock.execute(`select 1 from durable_job where id = '${held.id}' for update`);
          const group = how === 'alone' ? [parent] : [locked, parent];
          const settled = hosts[1]!.jobs.store.settle(group.map(attempt => outcome(attempt, 'succeeded')));
          await untilBlocked(first().orm);

          const staged = stage(first(), job('child', 'b'));
          await (how === 'alone' ? untilBlocked(first().orm, 2) : staged);
          expect(await stateOf('child')).toBe('awaiting');
          await lock.commit();

          await Promise.all([settled, staged]);
          expect(await stateOf('child')).toBe('queued');
        },
      );

      test('when its parent is recovered, or released with a cancel mark, behind a lock', async () => {
        for (const how of ['recover', 'release'] as const) {
          const [locked, parent] = [await aRunning(`a-${how}`), await aRunning(`b-${how}`)];
          await store().cancel(key(`b-${how}`), {});
          const lock = hosts[2]!.orm.em.fork();
          await lock.begin();
          await lock.execute(`select 1 from durable_job where id = '${locked.id}' for update`);
          const ended =
            how === 'recover'
              ? hosts[1]!.jobs.store.recover([locked, parent], { requeue: 'never', reason: 'shutdown' })
              : hosts[1]!.jobs.store.release([locked, parent]);
          await untilBlocked(first().orm);

          await stage(first(), job(`child-${how}`, `b-${how}`));
          await lock.commit();

          await ended;
          expect(await stateOf(`child-${how}`)).toBe('cancelled');
        }
      });
    }

    test('by a crash between its commit and the look at its parents: one sweep finds it', async () => {
      await first().jobs.submit([job('a'), job('b'), job('c', 'a'), job('d', 'b'), job('e', 'd')]);
      const ended = `unique_hash = null, finished_at = 1`;
      await first().orm.em.fork().execute(`update durable_job set state = 'succeeded', ${ended} where id = 'a'`);
      await first().orm.em.fork().execute(`update durable_job set state = 'cancelled', ${ended} where id = 'b'`);

      await resolveAwaiting(store());

      expect([await stateOf('c'), await stateOf('d'), await stateOf('e')]).toEqual([
        'queued',
        'cancelled',
        'cancelled',
      ]);
    });

    test('when its parent ends beside the submit', async () => {
      await eachRound(async round => {
        const attempt = await aRunning(`p${round}`);
        await Promise.all([
          hosts[1]!.jobs.submit(job(`c${round}`, `p${round}`)),
          hosts[2]!.jobs.store.settle([outcome(attempt, round % 3 === 0 ? 'failed' : 'succeeded')]),
        ]);
      });

      expect(await countOf('awaiting')).toBe(0);
      await expectEachToFollow();
    });

    test('when two parents end at once', async () => {
      await eachRound(async round => {
        const [a, b] = [await aRunning(`a${round}`), await aRunning(`b${round}`)];
        await first().jobs.submit(job(`c${round}`, `a${round}`, `b${round}`));
        await Promise.all([
          hosts[1]!.jobs.store.settle([outcome(a, 'succeeded')]),
          hosts[2]!.jobs.store.settle([outcome(b, 'succeeded')]),
        ]);
      });

      expect(await countOf('awaiting')).toBe(0);
      expect(await countOf('queued')).toBe(rounds);
    });

    test('when it is staged under one that is cancelled beside it', async () => {
      await eachRound(async round => {
        await first().jobs.submit([job(`a${round}`), job(`b${round}`, `a${round}`)]);
        await Promise.all([
          stage(first(), job(`c${round}`, `b${round}`)),
          hosts[1]!.jobs.store.cancel(key(`a${round}`), {}),
        ]);
      });

      expect(await countOf('awaiting')).toBe(0);
      expect(await countOf('cancelled')).toBe(3 * rounds);
    });

    async function expectEachToFollow(): Promise<void> {
      for (let round = 1; round <= rounds; round++) {
        expect([round, await stateOf(`c${round}`)]).toEqual([round, round % 3 === 0 ? 'cancelled' : 'queued']);
      }
    }

    /** So many of them, some side by side: connections are few. */
    async function eachRound(play: (round: number) => Promise<void>): Promise<void> {
      const side = driver === 'postgresql' ? 4 : 1;
      for (let round = 1; round <= rounds; round += side) {
        await Promise.all(range(round, Math.min(round + side - 1, rounds)).map(play));
      }
    }
  });

  async function stage({ jobs, orm }: Host, submission: Submission): Promise<void> {
    await orm.em.fork().transactional(em => jobs.stage(em, submission));
  }

  async function aRunning(id: string): Promise<Attempt> {
    await first().jobs.submit(job(id));
    return (await store().tryStart(key(id), 'e'))!;
  }

  async function end(id: string, how: (typeof ends)[number]): Promise<void> {
    const attempt = (await store().tryStart(key(id), 'e'))!;

    if (how === 'interrupted') {
      expect(await store().recover([attempt], { requeue: 'never', reason: 'shutdown' })).toEqual(['interrupted']);
    } else {
      expect(await store().settle([outcome(attempt, how)])).toEqual([{ answer: 'settled', state: how }]);
    }
  }

  async function aJobThatIs(state: JobState): Promise<void> {
    if (state === 'awaiting') {
      await first().jobs.submit([job('root'), job('parent', 'root')]);
      return;
    }

    await first().jobs.submit(job('parent'));
    if (state === 'running') await store().tryStart(key('parent'), 'e');
    if (state === 'cancelled') await store().cancel(key('parent'), {});
    if (ends.includes(state as never)) await end('parent', state as (typeof ends)[number]);
  }

  async function stateOf(id: string): Promise<JobState | undefined> {
    return (await store().get(key(id)))?.state;
  }

  async function idsOf(state: JobState): Promise<string[]> {
    return (await first().jobs.admin.list({ states: [state] }, { limit: 200 })).jobs.map(({ id }) => id).sort();
  }

  async function countOf(state: JobState): Promise<number> {
    return (await first().jobs.admin.counts()).byState[state];
  }

  async function dependencies(): Promise<string[]> {
    const rows = await first()
      .orm.em.fork()
      .execute('select job_id, parent_id from durable_job_dependency order by 1, 2');
    return (rows as Array<Record<string, string>>).map(row => `${row.job_id} <- ${row.parent_id}`);
  }
});

function outcome(attempt: Attempt, how: 'succeeded' | 'failed'): Settlement {
  return how === 'succeeded'
    ? { ...attempt, progress: null, outcome: 'succeeded', resultRef: null }
    : { ...attempt, progress: null, outcome: 'failed', failureReason: 'handler_error', error: 'no' };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function permutations<T>(items: readonly T[]): T[][] {
  return items.length < 2
    ? [[...items]]
    : items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map(rest => [item, ...rest]));
}
