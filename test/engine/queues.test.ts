import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventStream } from '../../src/core/event-stream.ts';
import type { Attempt } from '../../src/core/attempt.ts';
import { systemClock } from '../../src/core/clock.ts';
import { defineJob } from '../../src/core/definition.ts';
import type { RunningJob, RegisteredHandler } from '../../src/core/handler.ts';
import type { JobStore } from '../../src/core/store.ts';
import { Poller } from '../../src/executor/poller.ts';
import { latch, type Latch } from '../executor/support/latch.ts';
import { forEachDriver } from '../support/orm.ts';
import { useSeveral, type Host } from './support/several.ts';
import { eventually } from './support/wait.ts';

const work = defineJob<{ n: number }>()({ name: 'work', queue: 'capped' });
const waiting = defineJob<{ n: number }>()({ name: 'waiting', queue: 'capped' });
const free = defineJob<{ n: number }>()({ name: 'free', queue: 'free' });
const cap = 3;
/** Of an hour between its polls. */
const pollerParts = {
  releaseForgotten: () => Promise.resolve(),
  freeSlots: () => 5,
  pollIntervalMs: 3_600_000,
  clock: systemClock,
};

forEachDriver(driver => {
  const { hosts } = useSeveral(driver, driver === 'postgresql' ? 8 : 3, { clock: systemClock });
  const first = () => hosts[0]!;
  const stops: Array<() => Promise<void>> = [];
  afterEach(async () => void (await Promise.all(stops.splice(0).map(stop => stop()))));

  describe('a cap', () => {
    beforeEach(async () => {
      await first().jobs.store.register({ id: 'e', name: 'e', host: 'h', leaseUntil: null, metadata: {} });
      await first().jobs.queues.limit('capped', cap);
    });

    test('is never exceeded by claimers on connections of their own, and all jobs are done', async () => {
      const count = driver === 'postgresql' ? 240 : 60;
      await submit(count);
      let most = 0;
      let done = 0;

      const claimers = hosts.map(async ({ jobs }) => {
        while (done < count) {
          const { attempts } = await jobs.store.claim(request(5));
          most = Math.max(most, await running());
          await jobs.store.settle(attempts.map(attempt => ({ ...attempt, progress: null, outcome: 'succeeded', resultRef: null }) as const)); // prettier-ignore
          done += attempts.length;
          // With better-sqlite3 the looks of those who get nothing would leave no turn to the others.
          await nextTurn();
        }
      });
      await Promise.all(claimers);

      expect(most).toBeLessThanOrEqual(cap);
      expect(most).toBeGreaterThan(0);
      expect((await first().jobs.admin.counts()).byState).toMatchObject({ queued: 0, succeeded: count });
    });

    test('is filled, and not exceeded, by claims that begin at once', async () => {
      const rounds = driver === 'postgresql' ? 40 : 8;
      for (let round = 0; round < rounds; round++) {
        await submit(10);

        const answers = await Promise.all(hosts.map(({ jobs }) => jobs.store.claim(request(10))));

        const attempts = answers.flatMap(answer => answer.attempts);
        expect([round, attempts.length]).toEqual([round, cap]);
        expect((await first().jobs.store.claim(request(10))).isHeldBack).toBe(true);
        await first().jobs.store.release(attempts);
        await first().jobs.admin.cancelAll({}, { limit: 100 });
      }
    });

    test('is kept by three executors, and what they end makes room at once: no poll is waited for', async () => {
      const count = driver === 'postgresql' ? 150 : 40;
      let now = 0;
      let most = 0;
      await submit(count);
      for (const host of hosts.slice(0, 3)) {
        await start(host, [
          host.jobs.handler(work, async () => {
            most = Math.max(most, ++now);
            await new Promise(resolve => setImmediate(resolve));
            now--;
          }),
        ]);
      }

      await eventually(async () => (await first().jobs.admin.counts()).byState.succeeded === count);

      expect(most).toBeLessThanOrEqual(cap);
    });

    test('holds back no other queue', async () => {
      await submit(10);
      await first().jobs.submit(Array.from({ length: 4 }, (_, n) => free.create({ n })));

      const { attempts, isHeldBack } = await first().jobs.store.claim({ ...request(20), definitions: [work, free] });

      expect(attempts.map(({ queue }) => queue).sort()).toEqual(['capped', 'capped', 'capped', 'free', 'free', 'free', 'free']); // prettier-ignore
      expect(isHeldBack).toBe(false);
    });

    test('gives its room to the most urgent', async () => {
      await first().jobs.submit([1, 9, 5, 7].map(priority => work.create({ n: priority }, { priority })));

      const { attempts } = await first().jobs.store.claim(request(10));

      expect(attempts.map(({ priority }) => priority)).toEqual([9, 7, 5]);
    });

    test('that was lowered lets what runs end, and starts nothing until there is room', async () => {
      await submit(6);
      const { attempts } = await first().jobs.store.claim(request(10));
      await first().jobs.queues.limit('capped', 1);

      expect(await first().jobs.store.claim(request(10))).toMatchObject({ attempts: [], isHeldBack: true });
      await first().jobs.store.release(attempts.slice(0, 2));
      expect((await first().jobs.store.claim(request(10))).attempts).toEqual([]);
      await first().jobs.store.release(attempts.slice(2));
      expect((await first().jobs.store.claim(request(10))).attempts).toHaveLength(1);
    });

    test('that was lifted holds nothing back', async () => {
      await submit(6);
      await first().jobs.store.claim(request(10));
      await first().jobs.queues.limit('capped', null);

      expect((await first().jobs.store.claim(request(10))).attempts).toHaveLength(3);
    });

    test('counts what runs under every executor, also under one that died', async () => {
      await first().jobs.store.register({ id: 'dead', name: 'e', host: 'h', leaseUntil: null, metadata: {} });
      await submit(5);
      await first().jobs.store.claim({ ...request(2), executorId: 'dead' });
      await first().jobs.store.retire('dead');

      expect((await first().jobs.store.claim(request(10))).attempts).toHaveLength(1);
    });
  });

  describe('between the look and the claim', () => {
    beforeEach(() => first().jobs.store.register({ id: 'e', name: 'e', host: 'h', leaseUntil: null, metadata: {} }));

    test('a pause or a cap that comes is obeyed', async () => {
      const changes: Array<[change: () => Promise<void>, claimed: number]> = [
        [() => first().jobs.queues.pause('capped'), 0],
        [() => first().jobs.queues.limit('capped', 1), 0],
      ];

      for (const [change, claimed] of changes) {
        await first().jobs.queues.resume('capped');
        await first().jobs.queues.limit('capped', null);
        await submit(6);
        // A claim that comes back full lets the next one go without a look.
        const before = await first().jobs.store.claim(request(1));
        expect(before.attempts).toHaveLength(1);
        await change();

        expect((await first().jobs.store.claim(request(1))).attempts).toHaveLength(claimed);
        await first().jobs.store.release(before.attempts);
        await first().jobs.admin.cancelAll({}, { limit: 100 });
      }
    });

    test('a queue that is paused beside claims gives nothing once its pause has been answered', async () => {
      const rounds = driver === 'postgresql' ? 40 : 8;
      for (let round = 0; round < rounds; round++) {
        await first().jobs.queues.resume('capped');
        await submit(20);
        let isPaused = false;
        const late: number[] = [];
        const claimers = hosts.map(async ({ jobs }) => {
          for (let i = 0; i < 4; i++) {
            const began = isPaused;
            const { attempts } = await jobs.store.claim(request(1));
            if (began) late.push(attempts.length);
          }
        });

        await first().jobs.queues.pause('capped');
        isPaused = true;
        await Promise.all(claimers);

        expect(late.filter(count => count > 0)).toEqual([]);
        await first().orm.em.fork().execute('delete from durable_job_attempt');
        await first().orm.em.fork().execute('delete from durable_job');
      }
    });
  });

  describe('an executor', () => {
    test('starts nothing of a paused queue, and what waits at once when it is resumed', async () => {
      const ran: number[] = [];
      await first().jobs.queues.pause('capped', { actor: 'ann' });
      await submit(3);
      await start(first(), [
        first().jobs.handler(work, job => void ran.push(job.payload.n)),
        first().jobs.handler(free, job => void ran.push(100 + job.payload.n)),
      ]);
      await first().jobs.submit(free.create({ n: 1 }));
      await eventually(() => ran.length === 1);
      expect(ran).toEqual([101]);

      await first().jobs.queues.resume('capped', { actor: 'bob' });

      await eventually(() => ran.length === 4);
      expect(await first().jobs.queues.list()).toMatchObject([{ name: 'capped', isPaused: false, changedBy: 'bob' }]);
    });

    test('starts more at once when a cap is raised', async () => {
      const begun: number[] = [];
      const gate = latch();
      await first().jobs.queues.limit('capped', 1);
      await submit(3);
      await start(first(), [
        first().jobs.handler(work, async job => {
          begun.push(job.payload.n);
          await gate.opened;
        }),
      ]);
      await eventually(() => begun.length === 1);

      await first().jobs.queues.limit('capped', 2);

      await eventually(() => begun.length === 2);
      expect(await running()).toBe(2);
      gate.open();
    });

    test.each([
      ['ends', () => {}],
      ['ends in job.transactional()', job => job.transactional(async () => {})],
    ] as ReadonlyArray<[string, (job: RunningJob<never, never>) => unknown]>)(
      'uses the room below a cap that a job of another executor leaves when it %s',
      async (_, end) => {
        // On SQLite processes don't hear of each other: there it is another executor of the process.
        const other = driver === 'postgresql' ? hosts[1]! : first();
        const gate = latch();
        const begun: string[] = [];
        await first().jobs.queues.limit('capped', 1);
        await start(first(), [
          first().jobs.handler(work, async job => {
            begun.push('work');
            await gate.opened;
            await end(job as never);
          }),
        ]);
        await start(other, [other.jobs.handler(waiting, () => void begun.push('waiting'))]);
        await submit(1);
        await eventually(() => begun.length === 1);
        const looks = claimsOf(other);
        await first().jobs.submit(waiting.create({ n: 1 }));
        // It has looked, and found the cap reached.
        await eventually(() => looks.heldBack > 0);

        gate.open();

        await eventually(() => begun.length === 2);
        expect(begun).toEqual(['work', 'waiting']);
      },
    );

    test.each([
      ['here', 'slotFreed'],
      ['elsewhere', 'roomMade'],
    ] as const)(
      'uses the room that a job leaves which ends %s while a claim still sees the cap reached',
      async (_, tell) => {
        const { store } = first().jobs;
        await store.register({ id: 'e', name: 'e', host: 'h', leaseUntil: null, metadata: {} });
        await first().jobs.queues.limit('capped', 1);
        await submit(2);
        const [running] = (await store.claim(request(1))).attempts;
        const looked = latch();
        const ended = latch();
        const begun: string[] = [];
        const poller = aPoller(store, begun, looked, ended);
        const stopping = new AbortController();
        const polling = poller.run(stopping.signal, stopping.signal);
        stops.push(async () => {
          stopping.abort();
          await polling;
        });

        await looked.opened;
        await store.settle([{ ...running!, progress: null, outcome: 'succeeded', resultRef: null }]);
        poller[tell]();
        ended.open();

        await eventually(() => begun.length === 1);
      },
    );

    test('looks less and less often for room that others get, and misses none', async () => {
      const begun: string[] = [];
      let [claims, isFull] = [0, true];
      const attempt = { id: 'a' } as Attempt;
      const poller = new Poller({
        ...pollerParts,
        claim: async () => {
          claims++;
          return { attempts: isFull || begun.length > 0 ? [] : [attempt], nextDueAt: null, isHeldBack: isFull };
        },
        begin: ({ id }) => void begun.push(id),
        release: () => Promise.resolve(),
        logger: first().log,
        events: new EventStream(first().log),
      });
      const stopping = new AbortController();
      const polling = poller.run(stopping.signal, stopping.signal);
      stops.push(async () => {
        stopping.abort();
        await polling;
      });

      for (let told = 0; told < 2000; told++) {
        poller.roomMade();
        await nextTurn();
      }
      expect(claims).toBeLessThan(50);
      isFull = false;
      poller.roomMade();

      await eventually(() => begun.length === 1);
    });
  });

  /** The answer of its first claim is kept back. */
  function aPoller(store: JobStore, begun: string[], looked: Latch, ended: Latch): Poller {
    let claims = 0;

    return new Poller({
      claim: async limit => {
        const answer = await store.claim(request(limit));
        if (claims++ === 0) {
          expect(answer).toMatchObject({ attempts: [], isHeldBack: true });
          looked.open();
          await ended.opened;
        }
        return answer;
      },
      begin: attempt => void begun.push(attempt.id),
      ...pollerParts,
      release: attempts => store.release(attempts),
      events: new EventStream(first().log),
      logger: first().log,
    });
  }

  /** Counts the claims that a cap holds back. */
  function claimsOf({ jobs: { store } }: Host): { readonly heldBack: number } {
    const counted = { heldBack: 0 };
    const claim = store.claim.bind(store);
    store.claim = async request => {
      const answer = await claim(request);
      counted.heldBack += answer.isHeldBack ? 1 : 0;
      return answer;
    };
    stops.push(async () => void (store.claim = claim));

    return counted;
  }

  async function start({ jobs }: Host, handlers: ReadonlyArray<RegisteredHandler<never>>): Promise<void> {
    const executor = jobs.executor({ handlers, pollInterval: '1h', maintenanceInterval: '1h' });
    stops.push(() => executor.stop());
    await executor.start();
  }

  function request(limit: number) {
    return { executorId: 'e', definitions: [work], queues: null, limit };
  }

  async function submit(count: number): Promise<void> {
    await first().jobs.submit(Array.from({ length: count }, (_, n) => work.create({ n })));
  }

  async function running(): Promise<number> {
    return (await first().jobs.admin.counts({ queues: ['capped'] })).byState.running;
  }
});
