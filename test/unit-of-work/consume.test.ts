import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { PermanentError, RetryAfterError, SnoozeError } from '../../src/core/handler-errors.ts';
import { InvalidMessageError, MessageContractError } from '../../src/core/message.ts';
import { InboxMessage } from '../../src/entities/index.ts';
import { MessageLostError } from '../../src/unit-of-work/errors.ts';
import type { Unit } from '../../src/unit-of-work/unit.ts';
import { dropOrm, forEachDriver } from '../support/orm.ts';
import {
  aMessage,
  createWorld,
  gate,
  handled,
  handleOrder,
  inMs,
  leaveReceipt,
  nothingStored,
  Payment,
  receiptOf,
  refresh,
  stored,
  type Em,
  type World,
} from './world.ts';

forEachDriver(driver => {
  let world: World;

  beforeAll(async () => {
    world = await createWorld(driver);
  });

  beforeEach(async () => {
    world = await refresh(world);
  });

  afterAll(() => dropOrm(world.orm));

  /** A database of its own, for what can't be swept up. */
  async function inOwnWorld(run: (own: World) => Promise<void>): Promise<void> {
    const own = await createWorld(driver);
    await run(own).finally(() => dropOrm(own.orm));
  }

  const consume = (work: (unit: Unit<Em>) => Promise<void> = handleOrder, overrides = {}, consumer = 'billing') =>
    world.unitOfWork.consume(aMessage(overrides), consumer, work);
  const fails = (error: unknown = new Error('no')) => consume(() => Promise.reject(error));
  const uncalled = () => Promise.reject(new Error('called'));

  describe('a message', () => {
    test('is handled: business rows, jobs, outgoing messages and its receipt are committed together', async () => {
      const consumed = await consume();

      expect(consumed).toEqual({ outcome: 'processed', reply: 'ack' });
      expect(await stored(world)).toEqual(handled);
      expect(await receiptOf(world)).toMatchObject({
        name: 'order.paid',
        version: '1',
        contentHash: createHash('sha256').update('{"order":1}').digest('hex'),
        token: null,
        leaseUntil: null,
        failureCount: 0,
        nextAttemptAt: null,
        lastError: null,
        receivedAt: world.time.now(),
        finishedAt: world.time.now(),
      });
    });

    test('that is delivered again is acknowledged without calling work', async () => {
      await consume();

      const consumed = await consume(uncalled);

      expect(consumed).toEqual({ outcome: 'already_processed', reply: 'ack' });
      expect(await stored(world)).toEqual(handled);
    });

    test('is handled once for each consumer', async () => {
      await consume();

      const consumed = await consume(async ({ em }) => void em.persist(new Payment('q')), {}, 'shipping');

      expect(consumed.outcome).toBe('processed');
      expect(await stored(world)).toMatchObject({
        payments: ['p', 'q'],
        inbox: ['m-1/billing: processed', 'm-1/shipping: processed'],
      });
    });

    test('that comes twenty times at once is handled once', async () => {
      let calls = 0;

      const consumed = await Promise.all(
        Array.from({ length: 20 }, () =>
          consume(async unit => {
            calls++;
            await handleOrder(unit);
          }),
        ),
      );

      expect(calls).toBe(1);
      expect(consumed.filter(({ outcome }) => outcome === 'processed')).toHaveLength(1);
      expect(new Set(consumed.map(({ outcome }) => outcome)).size).toBeLessThanOrEqual(3);
      expect(await stored(world)).toEqual(handled);
    });

    test.each([
      ['name', { name: 'order.refunded' }],
      ['version', { version: '2' }],
      ['content', { content: '{"order": 1}' }],
    ])('with a known id and another %s is refused, and the receipt stays as it was', async (field, overrides) => {
      await consume();
      const before = await receiptOf(world);

      const consumed = consume(uncalled, overrides);

      await expect(consumed).rejects.toBeInstanceOf(MessageContractError);
      await expect(consumed).rejects.toMatchObject({ messageId: 'm-1', box: 'inbox', differences: [{ field }] });
      expect(await receiptOf(world)).toEqual(before);
    });

    test('with another content does not take over a failed one, even when that is due', async () => {
      await fails();
      const before = await receiptOf(world);
      world.time.advance(3_600_000);

      await expect(consume(uncalled, { content: '{}' })).rejects.toBeInstanceOf(MessageContractError);

      expect(await receiptOf(world)).toEqual(before);
    });

    test.each([
      ['id', { id: '' }],
      ['id', { id: 'x'.repeat(256) }],
      ['id', { id: 'a\u0000b' }],
      ['name', { name: undefined }],
      ['version', { version: 'x'.repeat(65) }],
      ['content', { content: '\ud800' }],
      ['content', { content: { order: 1 } }],
    ])('with an invalid %s is refused before any SQL', async (field, overrides) => {
      world.queries.length = 0;

      const consumed = consume(uncalled, overrides);

      await expect(consumed).rejects.toBeInstanceOf(InvalidMessageError);
      await expect(consumed).rejects.toMatchObject({ field });
      expect(world.queries).toEqual([]);
    });

    test('with an invalid consumer is refused before any SQL', async () => {
      world.queries.length = 0;

      await expect(consume(uncalled, {}, '')).rejects.toMatchObject({ code: 'INVALID_MESSAGE', field: 'consumer' });

      expect(world.queries).toEqual([]);
    });

    test('is refused inside a transaction and inside a unit of work, before any SQL of its own', async () => {
      await world.orm.em.fork().transactional(async () => {
        await expect(consume(uncalled)).rejects.toMatchObject({ code: 'AMBIENT_TRANSACTION' });
      });
      await world.unitOfWork.execute(async () => {
        await expect(consume(uncalled)).rejects.toMatchObject({ code: 'AMBIENT_TRANSACTION' });
      });

      expect(await stored(world)).toEqual(nothingStored);
    });

    test('whose handler calls execute is handled in one transaction all the same', async () => {
      await consume(() => world.unitOfWork.execute(handleOrder));

      expect(await stored(world)).toEqual(handled);
    });

    test('that the database skips without having it is refused by name', async () => {
      const skip = {
        postgresql: [
          'create function skip() returns trigger language plpgsql as $$ begin return null; end $$',
          'create trigger skip before insert on durable_inbox_message for each row execute function skip()',
        ],
        sqlite: ['create trigger skip before insert on durable_inbox_message begin select raise(ignore); end'],
      };

      await inOwnWorld(async own => {
        for (const statement of skip[driver]) await own.orm.em.fork().execute(statement);

        const consumed = own.unitOfWork.consume(aMessage(), 'billing', uncalled);

        await expect(consumed).rejects.toMatchObject({ code: 'MESSAGE_REFUSED', messageId: 'm-1' });
      });
    });

    test('whose receipt has no table is answered with what makes it, and the error of the database', async () => {
      await inOwnWorld(async own => {
        await own.orm.em.fork().execute('drop table durable_inbox_message');

        await expect(own.unitOfWork.consume(aMessage(), 'billing', uncalled)).rejects.toMatchObject({
          code: 'SCHEMA_MISSING',
          cause: { message: expect.stringContaining('durable_inbox_message') },
        });
      });
    });
  });

  describe('a delivery meets a receipt that is', () => {
    const at = (ms: number) => inMs(world.time, ms);
    const token = '3f0c7c0e-5a53-4a1c-8f0e-0a4d3f6f2f11';
    const processing = (ms: number) => ({ state: 'processing', token, lease_until: at(ms), finished_at: null });
    const failed = (ms: number) => ({ state: 'failed', next_attempt_at: at(ms), failure_count: 3, finished_at: null });

    const cases: [string, () => Record<string, unknown>, string, string][] = [
      ['processed', () => ({}), 'already_processed', 'ack'],
      ['dead-lettered', () => ({ state: 'dead_lettered' }), 'dead_lettered', 'reject'],
      ['held by another delivery', () => processing(0.001), 'busy', 'requeue'],
      ['held until exactly now', () => processing(0), 'processed', 'ack'],
      ['held until a while ago', () => processing(-1), 'processed', 'ack'],
      ['failed and not due', () => failed(0.001), 'busy', 'requeue'],
      ['failed and due exactly now', () => failed(0), 'processed', 'ack'],
      ['failed and overdue', () => failed(-1), 'processed', 'ack'],
    ];

    test.each(cases)('%s', async (_, columns, outcome, reply) => {
      await leaveReceipt(world, columns());
      const before = await receiptOf(world);
      let calls = 0;

      const consumed = await consume(async () => void calls++);

      expect(consumed).toMatchObject({ outcome, reply });
      expect(calls).toBe(outcome === 'processed' ? 1 : 0);
      if (calls === 0) expect(await receiptOf(world)).toEqual(before);
    });

    test('busy, and is told until when at most', async () => {
      await leaveReceipt(world, processing(30_000));
      expect(await consume(uncalled)).toEqual({
        outcome: 'busy',
        reply: 'requeue',
        retryAt: new Date(at(30_000) / 1000),
      });

      await leaveReceipt(world, { ...failed(20_000), token: null, lease_until: null });
      expect(await consume(uncalled)).toEqual({
        outcome: 'busy',
        reply: 'requeue',
        retryAt: new Date(at(20_000) / 1000),
      });
    });
  });

  describe('work that fails', () => {
    test('rolls everything back, and the failure is recorded with its time of the next try', async () => {
      const error = new Error('no', { cause: new Error('deeper') });

      const consumed = await consume(async unit => {
        await handleOrder(unit);
        await unit.em.flush();
        throw error;
      });

      expect(consumed).toEqual({
        outcome: 'failed',
        reply: 'requeue',
        retryAt: new Date(inMs(world.time, 2000) / 1000),
        error,
      });
      expect(await stored(world)).toEqual({ ...nothingStored, inbox: ['m-1/billing: failed'] });
      expect(await receiptOf(world)).toMatchObject({
        token: null,
        leaseUntil: null,
        failureCount: 1,
        nextAttemptAt: inMs(world.time, 2000),
        lastError: expect.stringMatching(/Error: no[^]*caused by: Error: deeper/),
        finishedAt: null,
      });
    });

    test('is tried again when that is due, each time later, and what it writes then takes effect once', async () => {
      for (const delay of [2000, 4000, 8000]) {
        expect(await fails()).toMatchObject({ outcome: 'failed', retryAt: new Date(inMs(world.time, delay) / 1000) });
        expect((await consume(uncalled)).outcome).toBe('busy');
        world.time.advance(delay);
      }

      expect((await consume()).outcome).toBe('processed');
      expect(await stored(world)).toEqual(handled);
      expect(await receiptOf(world)).toMatchObject({ failureCount: 3, lastError: expect.stringContaining('no') });
    });

    test('once more than maxFailures says dead-letters the message', async () => {
      world = await refresh(world, { maxFailures: 1 });

      expect((await fails()).outcome).toBe('failed');
      world.time.advance(2000);
      const error = new Error('again');
      expect(await fails(error)).toEqual({ outcome: 'dead_lettered', reply: 'reject', error });

      expect(await receiptOf(world)).toMatchObject({
        state: 'dead_lettered',
        token: null,
        failureCount: 2,
        nextAttemptAt: null,
        lastError: expect.stringContaining('again'),
        finishedAt: world.time.now(),
      });
      expect(await consume(uncalled)).toEqual({ outcome: 'dead_lettered', reply: 'reject' });
    });

    test('with a PermanentError, also as a cause, dead-letters it at once', async () => {
      const error = new Error('outer', { cause: new PermanentError('never') });

      expect(await fails(error)).toEqual({ outcome: 'dead_lettered', reply: 'reject', error });
      expect(await receiptOf(world)).toMatchObject({ state: 'dead_lettered', failureCount: 1 });
    });

    test('with a PermanentError in a nested execute dead-letters it though the error was caught', async () => {
      const consumed = await consume(async () => {
        await world.unitOfWork.execute(() => Promise.reject(new PermanentError('never'))).catch(() => {});
      });

      expect(consumed).toMatchObject({ outcome: 'dead_lettered', error: { code: 'UNIT_ROLLED_BACK' } });
    });

    test('with a RetryAfterError is tried again when that says, an hour later at most, and counts', async () => {
      expect(await fails(new RetryAfterError('5m'))).toMatchObject({
        outcome: 'failed',
        retryAt: new Date(inMs(world.time, 300_000) / 1000),
      });
      world.time.advance(300_000);
      expect(await fails(new RetryAfterError('2d'))).toMatchObject({
        retryAt: new Date(inMs(world.time, 3_600_000) / 1000),
      });
      expect((await receiptOf(world)).failureCount).toBe(2);
    });

    test('with a SnoozeError comes back then, and no failure is counted', async () => {
      expect(await fails(new SnoozeError('1h'))).toEqual({
        outcome: 'snoozed',
        reply: 'requeue',
        retryAt: new Date(inMs(world.time, 3_600_000) / 1000),
      });

      expect(await receiptOf(world)).toMatchObject({ state: 'failed', failureCount: 0, lastError: null, token: null });
      expect((await consume(uncalled)).outcome).toBe('busy');
      world.time.advance(3_600_000);
      expect((await consume()).outcome).toBe('processed');
    });

    const oddities: [string, unknown][] = [
      ['undefined', undefined],
      ['null', null],
      ['a text', 'text'],
      [
        'an object whose getters throw',
        Object.defineProperty({}, 'message', {
          get: () => {
            throw new Error('trap');
          },
        }),
      ],
    ];

    test.each(oddities)('with %s for an error is a failure like any other', async (_, error) => {
      const consumed = await consume(() => Promise.reject(error));

      expect(consumed.outcome).toBe('failed');
      expect('error' in consumed && consumed.error === error).toBe(true);
      expect((await receiptOf(world)).lastError).toEqual(expect.any(String));
    });

    test('by a conflict of its last flush is a failure like any other', async () => {
      await world.unitOfWork.execute(async ({ em }) => void em.persist(new Payment('p')));

      expect(await consume()).toMatchObject({
        outcome: 'failed',
        error: { message: expect.stringMatching(/unique|duplicate/i) },
      });
      expect(await stored(world)).toEqual({ ...nothingStored, payments: ['p'], inbox: ['m-1/billing: failed'] });
    });

    test('and cannot be taken down makes consume throw, after logging what it was', async () => {
      const error = new Error('the reason');

      await inOwnWorld(async own => {
        const consumed = own.unitOfWork.consume(aMessage(), 'billing', async unit => {
          unit.em.getEventManager().registerSubscriber({
            afterTransactionRollback: async () =>
              void (await own.orm.em.fork().execute('drop table durable_inbox_message')),
          });
          throw error;
        });

        await expect(consumed).rejects.toMatchObject({ code: 'SCHEMA_MISSING' });
        expect(own.logged).toMatchObject([{ event: 'message_failure_not_recorded', messageId: 'm-1', error }]);
      });
    });
  });

  describe('the lease', () => {
    test('is what a completion needs: work that took longer is rolled back and the message is left to the next', async () => {
      const consumed = await consume(async unit => {
        await handleOrder(unit);
        world.time.advance(60_000); // equal counts as lapsed
      });

      expect(consumed).toEqual({ outcome: 'lost', reply: 'requeue' });
      expect(world.queries.filter(query => query.includes('failure_count + 1'))).toEqual([]);
      expect(await stored(world)).toEqual({ ...nothingStored, inbox: ['m-1/billing: processing'] });
      expect((await receiptOf(world)).failureCount).toBe(0);
      expect((await consume()).outcome).toBe('processed');
    });

    test('that has lapsed lets no failure be recorded either', async () => {
      const consumed = await consume(async () => {
        world.time.advance(60_000);
        throw new Error('late');
      });

      expect(consumed).toEqual({ outcome: 'lost', reply: 'requeue' });
      expect(await receiptOf(world)).toMatchObject({ state: 'processing', failureCount: 0, lastError: null });
    });

    if (driver === 'postgresql') {
      test('that another delivery took over fences the first one, while the other works and after it', async () => {
        const [firstIsIn, secondIsIn, release] = [gate(), gate(), gate()];
        const first = consume(async unit => {
          await handleOrder(unit);
          firstIsIn.resolve();
          await secondIsIn.promise;
        });
        await firstIsIn.promise;
        // The first one sleeps, as a paused process does: its timers didn't ring.
        await world.orm.em.fork().nativeUpdate(InboxMessage, { messageId: 'm-1' }, { leaseUntil: world.time.now() });

        const second = consume(async ({ em }) => {
          em.persist(new Payment('second'));
          secondIsIn.resolve();
          await release.promise;
        });

        expect(await first).toEqual({ outcome: 'lost', reply: 'requeue' });
        expect(await stored(world)).toEqual({ ...nothingStored, inbox: ['m-1/billing: processing'] });
        release.resolve();
        expect((await second).outcome).toBe('processed');
        expect(await stored(world)).toMatchObject({ payments: ['second'], inbox: ['m-1/billing: processed'] });
      });

      test('that another delivery took over lets the first one record no failure', async () => {
        const consumed = await consume(async () => {
          const other = { token: '3f0c7c0e-5a53-4a1c-8f0e-0a4d3f6f2f11' };
          await world.orm.em
            .fork({ disableContextResolution: true })
            .nativeUpdate(InboxMessage, { messageId: 'm-1' }, other);
          throw new Error('no');
        });

        expect(consumed).toEqual({ outcome: 'lost', reply: 'requeue' });
        expect(await receiptOf(world)).toMatchObject({ state: 'processing', failureCount: 0 });
      });
    }
  });

  describe('a signal', () => {
    const reason = new Error('stopping');

    test('that is aborted before sends nothing and asks for a redelivery', async () => {
      world.queries.length = 0;

      const consumed = await world.unitOfWork.consume(aMessage(), 'billing', uncalled, { signal: AbortSignal.abort() });

      expect(consumed).toEqual({ outcome: 'aborted', reply: 'requeue' });
      expect(world.queries).toEqual([]);
    });

    test.each([
      ['returns', async () => {}],
      ['throws its reason', (unit: Unit<Em>) => unit.signal.throwIfAborted()],
      [
        'throws a PermanentError',
        () => {
          throw new PermanentError('because of the abort');
        },
      ],
    ])(
      'that is aborted while work runs, which then %s, rolls back without a failure; a redelivery begins at once',
      async (_, end) => {
        const controller = new AbortController();

        const consumed = await world.unitOfWork.consume(
          aMessage(),
          'billing',
          async unit => {
            await handleOrder(unit);
            controller.abort(reason);
            end(unit);
          },
          { signal: controller.signal },
        );

        expect(consumed).toEqual({ outcome: 'aborted', reply: 'requeue' });
        expect(await stored(world)).toEqual({ ...nothingStored, inbox: ['m-1/billing: failed'] });
        expect(await receiptOf(world)).toMatchObject({ failureCount: 0, lastError: null });
        expect((await consume()).outcome).toBe('processed');
      },
    );

    test('that is aborted after the commit changes nothing', async () => {
      const controller = new AbortController();

      const consumed = await world.unitOfWork.consume(
        aMessage(),
        'billing',
        async unit => {
          unit.em.getEventManager().registerSubscriber({ afterTransactionCommit: () => controller.abort(reason) });
          await handleOrder(unit);
        },
        { signal: controller.signal },
      );

      expect(consumed.outcome).toBe('processed');
      expect(await stored(world)).toEqual(handled);
    });
  });

  describe('a busy message', () => {
    beforeEach(async () => {
      world = await refresh(world, { busyWait: '5s', busyCheckEvery: '2s' });
      await leaveReceipt(world, {
        state: 'processing',
        token: '3f0c7c0e-5a53-4a1c-8f0e-0a4d3f6f2f11',
        lease_until: inMs(world.time, 60_000),
        finished_at: null,
      });
    });

    test('is looked at again for a while, and answered as busy then; no failure is counted', async () => {
      const consumed = consume(uncalled);
      for (let looks = 0; looks < 2; looks++) {
        await world.time.untilTimer(2000);
        world.time.advance(2000);
      }

      expect(await consumed).toMatchObject({ outcome: 'busy', reply: 'requeue' });
      expect(await receiptOf(world)).toMatchObject({ state: 'processing', failureCount: 0 });
    });

    test('is handled if it becomes free meanwhile', async () => {
      const consumed = consume();
      await world.time.untilTimer(2000);
      await world.orm.em.fork().nativeUpdate(InboxMessage, { messageId: 'm-1' }, { leaseUntil: world.time.now() });
      world.time.advance(2000);

      expect((await consumed).outcome).toBe('processed');
    });

    test('is given up when the signal is aborted', async () => {
      const controller = new AbortController();
      const consumed = world.unitOfWork.consume(aMessage(), 'billing', uncalled, { signal: controller.signal });
      await world.time.untilTimer(2000);
      controller.abort();

      expect(await consumed).toEqual({ outcome: 'aborted', reply: 'requeue' });
      expect(world.time.timers).toEqual([]);
    });
  });

  test('a lost delivery is told so by an error that names its message', () => {
    expect(new MessageLostError('m', 'c')).toMatchObject({ code: 'MESSAGE_LOST', messageId: 'm', consumer: 'c' });
  });
});
