import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Micros } from '../../src/core/time.ts';
import { InboxMessage } from '../../src/entities/index.ts';
import { MessageLostError } from '../../src/unit-of-work/errors.ts';
import { LeaseKeeper } from '../../src/unit-of-work/lease-keeper.ts';
import { dropOrm, forEachDriver } from '../support/orm.ts';
import { ManualTime } from './manual-time.ts';
import { aMessage, createWorld, nothingStored, Payment, receiptOf, refresh, stored, type World } from './world.ts';

describe('a lease', () => {
  const setup = (renew: (time: ManualTime, count: number) => Promise<Micros | null>) => {
    const time = new ManualTime();
    const logged: string[] = [];
    let count = 0;
    const log = ({ event }: { event: string }) => void logged.push(event);
    const keeper = new LeaseKeeper(
      {
        clock: time,
        delay: time.delay,
        leaseMs: 60_000,
        logger: { info: log, warn: log, error: log },
        renew: () => renew(time, ++count),
      },
      { messageId: 'm', consumer: 'c', token: 't', failureCount: 0, leaseUntil: time.now() + 60_000_000 },
    );
    keeper.start();

    return { time, keeper, logged, renewals: () => count };
  };
  const extended = async (time: ManualTime) => time.now() + 60_000_000;
  /** Lets everything run that doesn't wait for the clock. */
  const settle = () => new Promise(resolve => setImmediate(resolve));

  test('is renewed every third of its time for as long as it is kept', async () => {
    const { time, keeper, renewals } = setup(extended);

    for (let turn = 1; turn <= 5; turn++) {
      expect(time.timers).toEqual([20_000]);
      time.advance(19_999);
      await settle();
      expect(renewals()).toBe(turn - 1);
      time.advance(1);
      await settle();
      expect(renewals()).toBe(turn);
    }

    expect(keeper.signal.aborted).toBe(false);
    await keeper.end();
  });

  test('is lost when a renewal says so, and not renewed any more', async () => {
    const { time, keeper, renewals } = setup(async () => null);

    time.advance(20_000);
    await settle();

    expect(keeper.signal.reason).toBeInstanceOf(MessageLostError);
    expect(time.timers).toEqual([]);
    expect(renewals()).toBe(1);
    await keeper.end();
  });

  test('is not lost by a renewal that fails: that is logged and tried again', async () => {
    const { time, keeper, logged } = setup((now, count) =>
      count === 1 ? Promise.reject(new Error('down')) : extended(now),
    );

    time.advance(20_000);
    await settle();
    expect(logged).toEqual(['message_renewal_failed']);
    expect(keeper.signal.aborted).toBe(false);
    time.advance(20_000);
    await settle();
    time.advance(59_999); // more than is left without the second renewal
    await settle();

    expect(keeper.signal.aborted).toBe(false);
    await keeper.end();
  });

  test('is lost when its time is over while renewals fail', async () => {
    const { time, keeper } = setup(() => Promise.reject(new Error('down')));

    for (let turn = 0; turn < 3; turn++) {
      expect(keeper.signal.aborted).toBe(false);
      time.advance(20_000);
      await settle();
    }

    expect(keeper.signal.reason).toBeInstanceOf(MessageLostError);
    await keeper.end();
  });

  test('is lost when its time is over while a renewal hangs', async () => {
    let end!: (until: Micros | null) => void;
    const { time, keeper } = setup(() => new Promise(resolve => (end = resolve)));

    time.advance(20_000);
    await settle();
    time.advance(39_999);
    await settle();
    expect(keeper.signal.aborted).toBe(false);
    time.advance(1);
    await settle();

    expect(keeper.signal.reason).toBeInstanceOf(MessageLostError);
    end(null);
    await keeper.end();
  });

  test('that is given up is renewed no more, loses nothing and leaves no timer', async () => {
    const { time, keeper, renewals } = setup(async () => null);

    await keeper.end();
    time.advance(120_000);
    await settle();

    expect(renewals()).toBe(0);
    expect(time.timers).toEqual([]);
    expect(keeper.signal.aborted).toBe(false);
  });

  test('that was given up is not lost by the answer to a renewal from before', async () => {
    let end!: (until: Micros | null) => void;
    const { time, keeper } = setup(() => new Promise(resolve => (end = resolve)));
    time.advance(20_000);
    await settle();

    keeper.stop();
    end(null);
    await keeper.end();

    expect(keeper.signal.aborted).toBe(false);
    expect(time.timers).toEqual([]);
  });
});

forEachDriver(driver => {
  let world: World;

  beforeAll(async () => {
    world = await createWorld(driver);
  });

  beforeEach(async () => {
    world = await refresh(world);
  });

  afterAll(() => dropOrm(world.orm));

  if (driver === 'sqlite') {
    test('is not renewed beside the one connection: nothing waits for it, and nothing is left', async () => {
      const consumed = await world.unitOfWork.consume(aMessage(), 'billing', async () => {
        expect(world.time.timers).toEqual([]);
        world.time.advance(59_999);
      });

      expect(consumed.outcome).toBe('processed');
      expect(world.time.timers).toEqual([]);
    });
  } else {
    test('holds the message while work runs, however long that is', async () => {
      const consumed = await world.unitOfWork.consume(aMessage(), 'billing', async ({ em, signal }) => {
        em.persist(new Payment('p'));
        for (let turn = 0; turn < 6; turn++) {
          await world.time.untilTimer(20_000);
          world.time.advance(20_000);
          await untilLeaseIs(world.time.now() + 60_000_000);
        }
        expect(signal.aborted).toBe(false);
      });

      expect(consumed.outcome).toBe('processed');
      expect(await stored(world)).toMatchObject({ payments: ['p'], inbox: ['m-1/billing: processed'] });
      expect(world.time.timers).toEqual([]);
    });

    test('aborts the signal when another delivery has the message, and nothing is completed', async () => {
      const consumed = await world.unitOfWork.consume(aMessage(), 'billing', async ({ em, signal }) => {
        em.persist(new Payment('p'));
        await world.orm.em
          .fork({ disableContextResolution: true })
          .nativeUpdate(InboxMessage, { messageId: 'm-1' }, { token: '3f0c7c0e-5a53-4a1c-8f0e-0a4d3f6f2f11' });
        await world.time.untilTimer(20_000);
        const aborted = new Promise(resolve => signal.addEventListener('abort', resolve));
        world.time.advance(20_000);
        await aborted;
        expect(signal.reason).toBeInstanceOf(MessageLostError);
      });

      expect(consumed).toEqual({ outcome: 'lost', reply: 'requeue' });
      expect(await stored(world)).toEqual({ ...nothingStored, inbox: ['m-1/billing: processing'] });
      expect((await receiptOf(world)).failureCount).toBe(0);
    });

    test('is renewed until the completion is sent, and not any more then', async () => {
      const timers: number[][] = [];
      const own: World = await createWorld('postgresql', {
        onQuery: sql => {
          if (/set state = 'processed'/.test(sql)) timers.push(own.time.timers);
          return sql;
        },
      });

      await own.unitOfWork.consume(aMessage(), 'billing', async ({ em }) => {
        em.persist(new Payment('p'));
        em.getEventManager().registerSubscriber({ afterFlush: () => void timers.push(own.time.timers) });
      });

      expect(timers).toEqual([[20_000], []]);
      await dropOrm(own.orm);
    });

    test('outlives a renewal that gets no connection until the transaction has ended', async () => {
      const own = await createWorld('postgresql', { pool: { min: 0, max: 1 } });

      const consumed = await own.unitOfWork.consume(aMessage(), 'billing', async ({ em }) => {
        em.persist(new Payment('p'));
        await own.time.untilTimer(20_000);
        own.time.advance(20_000);
        await own.time.untilTimer(40_000); // the end of the lease, watched beside the renewal
      });

      expect(consumed.outcome).toBe('processed');
      expect(own.time.timers).toEqual([]);
      await dropOrm(own.orm);
    });

    async function untilLeaseIs(until: Micros): Promise<void> {
      while ((await receiptOf(world)).leaseUntil !== until);
    }
  }
});
