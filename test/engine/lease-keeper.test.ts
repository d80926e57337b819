import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { EventStream } from '../../src/core/event-stream.ts';
import { systemClock, type Clock } from '../../src/core/clock.ts';
import { resolveExecutorOptions } from '../../src/core/executor-options.ts';
import { LeaseKeeper } from '../../src/executor/lease-keeper.ts';
import { someSubmissions } from '../support/builders.ts';
import { latch, type Latch } from '../executor/support/latch.ts';
import { ManualClock } from '../executor/support/manual-clock.ts';
import { forEachDriver } from '../support/orm.ts';
import { useSeveral } from './support/several.ts';
import { eventually } from './support/wait.ts';

const leaseMs = 1000;
const skewMs = 100;

forEachDriver(driver => {
  const { hosts } = useSeveral(driver, 2, { clock: systemClock });
  const unhandled: unknown[] = [];
  const catchUnhandled = (error: unknown) => void unhandled.push(error);
  const stops: Array<() => Promise<void>> = [];
  beforeEach(() => {
    unhandled.length = 0;
    process.on('unhandledRejection', catchUnhandled);
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map(stop => stop()));
    process.off('unhandledRejection', catchUnhandled);
    expect(unhandled).toEqual([]);
  });

  describe('a lease', () => {
    test('is renewed while renewals work, long after its first end', async () => {
      const clock = new ManualClock();
      const { keeper, renewals, lost } = await aKeeper(new Fault(), [], { clock });

      for (let count = 1; count <= 5; count++) {
        clock.advance(leaseMs / 2);
        const leaseUntil = clock.now() + leaseMs * 1000;
        await eventually(() => renewals.includes(leaseUntil));
      }

      expect(lost).toEqual([]);
      expect(keeper.isHeld).toBe(true);
      expect(await executor(keeper.executorId)).toMatchObject({ state: 'active' });
    });

    test('survives renewals that fail for less than its time', async () => {
      const fault = new Fault();
      const clock = new ManualClock();
      const { keeper, lost, backs, renewals, log } = await aKeeper(fault, [], { clock });
      await eventually(() => renewals.length >= 1);

      fault.on = 'throw';
      clock.advance(leaseMs - skewMs - 1);
      await eventually(() => fault.hits >= 2);
      expect([keeper.isHeld, backs]).toEqual([true, []]);
      fault.on = null;
      await eventually(() => log.of('renew_recovered').length > 0);

      expect(lost).toEqual([]);
      expect(backs).toHaveLength(1);
      expect(log.of('renew_failed')).toHaveLength(1);
    });

    test.each(['throw', 'hang'] as const)(
      'is lost when its time is over and not before, where renewals %s',
      async how => {
        const fault = new Fault();
        const { keeper, lost, renewals } = await aKeeper(fault);
        await eventually(() => renewals.length >= 1);
        fault.on = how;
        await eventually(() => fault.hits >= 1);
        const { leaseUntil, state } = (await executor(keeper.executorId))!;
        const until = leaseUntil!.getTime();

        const [lostAt] = await eventually(() => (lost.length > 0 ? lost : null));

        expect(state).toBe('active');
        expect(lostAt! / 1000).toBeGreaterThanOrEqual(until - skewMs);
        expect(keeper.isHeld).toBe(false);
        fault.release();
      },
    );

    test('is lost by a clock that was set back too, where renewals hang', async () => {
      const fault = new Fault();
      let setBackBy = 0;
      const clock = { now: () => systemClock.now() - setBackBy };
      const { keeper, lost, renewals } = await aKeeper(fault, [], { clock });
      await eventually(() => renewals.length >= 1);
      fault.on = 'hang';
      await eventually(() => fault.hits >= 1);

      setBackBy = 300_000;
      await eventually(() => lost.length > 0);

      expect(keeper.isHeld).toBe(false);
      fault.release();
    });

    test('that was lost is registered anew, under another id, when the database answers again', async () => {
      const fault = new Fault();
      const { keeper, lost, held, log } = await aKeeper(fault);
      const before = keeper.executorId;
      fault.on = 'throw';
      await eventually(() => lost.length > 0);

      fault.on = null;
      await eventually(() => held.length > 0);

      expect(keeper.isHeld).toBe(true);
      expect(keeper.executorId).not.toBe(before);
      expect([await stateOf(before), await stateOf(keeper.executorId)]).toEqual(['stopped', 'active']);
      expect(log.of('lease_lost')).toMatchObject([{ executorId: before }]);
      expect(lost).toHaveLength(1);
    });

    test('whose renewal was answered after its time is not taken up again', async () => {
      const fault = new Fault();
      const { keeper, lost, held } = await aKeeper(fault);
      const before = keeper.executorId;
      fault.on = 'late';
      await eventually(() => lost.length > 0);

      fault.release();
      await eventually(() => held.length > 0);

      expect(keeper.executorId).not.toBe(before);
      expect(await stateOf(before)).toBe('stopped');
    });

    test('that somebody else declared dead is lost with the next renewal', async () => {
      const { keeper, lost, held } = await aKeeper();
      const before = keeper.executorId;
      await hosts[1]!.orm.em.fork().execute(`update durable_executor set state = 'lapsed' where id = '${before}'`);

      await eventually(() => held.length > 0);

      expect(lost).toHaveLength(1);
      expect(keeper.executorId).not.toBe(before);
    });

    test('is not held after its time, also before anybody noticed', async () => {
      const fault = new Fault();
      const clock = new ManualClock();
      const { keeper, lost } = await aKeeper(fault, [], { clock });
      fault.on = 'hang';

      // No timer of the keeper can run in here.
      clock.advance(leaseMs - skewMs);

      expect([keeper.isHeld, lost]).toEqual([false, []]);
      fault.release();
    });

    test('tells of what ran when the renewal began: active, to be cancelled, or ended', async () => {
      const { jobs } = hosts[0]!;
      const fault = new Fault();
      const running: string[] = ['stale'];
      const { keeper, heeded } = await aKeeper(fault, running);
      const [going, cancelled] = (await jobs.submit(someSubmissions(2))).map(({ job }) => job);
      const started = await Promise.all([going!, cancelled!].map(job => jobs.store.tryStart(job, keeper.executorId)));
      await jobs.store.cancel(cancelled!, {});
      running.push(...started.map(attempt => attempt!.token));

      await eventually(() => heeded.get(started[1]!.token) === 'cancel_requested' && heeded.has(started[0]!.token));

      expect([heeded.get('stale'), heeded.get(started[0]!.token)]).toEqual(['ended', 'active']);
    });

    test('that can’t be given back at the end is logged, and the end comes', async () => {
      const fault = new Fault();
      const { keeper, log, stop } = await aKeeper(fault);
      fault.on = 'throw';

      await stop();

      expect(log.of('retire_failed')).toMatchObject([{ executorId: keeper.executorId }]);
      expect(keeper.isHeld).toBe(false);
    });

    test('without a time is none: never renewed, never lost', async () => {
      const { keeper, renewals, lost } = await aKeeper(new Fault(), [], { lease: false });

      expect(await executor(keeper.executorId)).toMatchObject({ state: 'active', leaseUntil: null });
      expect([keeper.isHeld, renewals, lost]).toEqual([true, [], []]);
      expect(await hosts[1]!.jobs.store.recoverLapsed(10)).toEqual({ lapsed: [], recovered: [] });
    });
  });

  async function aKeeper(
    fault = new Fault(),
    running: string[] = [],
    { clock = systemClock, ...options }: { lease?: false; clock?: Clock } = {},
  ) {
    const { jobs, log } = hosts[0]!;
    const renewals: number[] = [];
    const lost: number[] = [];
    const held: number[] = [];
    const backs: number[] = [];
    const heeded = new Map<string, string>();
    const { store } = jobs;
    const keeper = new LeaseKeeper({
      store: {
        register: executor => fault.pass(() => store.register(executor)),
        renew: async (id, until) => {
          const answer = await fault.pass(() => store.renew(id, until));
          renewals.push(until);
          return answer;
        },
        retire: id => fault.pass(() => store.retire(id)),
      },
      options: resolveExecutorOptions(
        { lease: leaseMs, renewEvery: 100, progressInterval: 100, clockSkew: skewMs, ...options },
        store.capabilities,
      ),
      metadata: {},
      runningTokens: () => [...running],
      heed: (token, status) => void heeded.set(token, status),
      onLost: () => void lost.push(systemClock.now()),
      onHeld: () => void held.push(systemClock.now()),
      onBack: () => void backs.push(systemClock.now()),
      clock,
      events: new EventStream(log),
      logger: log,
    });
    const ending = new AbortController();

    await keeper.open();
    const ended = keeper.run(ending.signal);
    const stop = async () => {
      ending.abort();
      await ended;
      await keeper.close();
    };
    stops.push(stop);

    return { keeper, renewals, lost, held, backs, heeded, log, stop };
  }

  async function executor(id: string) {
    return (await hosts[1]!.jobs.admin.executors({ all: true })).find(one => one.id === id);
  }

  async function stateOf(id: string): Promise<string | undefined> {
    return (await executor(id))?.state;
  }
});

/** What stands between a keeper and its store: lets calls through, fails them, or keeps them or their answers back. */
class Fault {
  on: 'throw' | 'hang' | 'late' | null = null;
  hits = 0;
  readonly #gate: Latch = latch();

  release(): void {
    this.on = null;
    this.#gate.open();
  }

  async pass<T>(call: () => Promise<T>): Promise<T> {
    const how = this.on;
    this.hits += how === null ? 0 : 1;
    if (how === 'throw') {
      throw new Error('no database');
    }
    if (how === 'hang') {
      await this.#gate.opened;
    }

    const answer = await call();
    if (how === 'late') {
      await this.#gate.opened;
    }
    return answer;
  }
}
