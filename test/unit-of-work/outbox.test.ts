import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { OutboxOptions } from '../../src/core/message.ts';
import { dropOrm, forEachDriver } from '../support/orm.ts';
import { aMessage, createWorld, gate, nothingStored, outboxOf, Payment, refresh, stored, type World } from './world.ts';

forEachDriver(driver => {
  let world: World;

  beforeAll(async () => {
    world = await createWorld(driver);
  });

  beforeEach(async () => {
    world = await refresh(world);
  });

  afterAll(() => dropOrm(world.orm));

  const add = (overrides = {}, options?: OutboxOptions) =>
    world.unitOfWork.execute(async ({ outbox }) => outbox.add(aMessage(overrides), options));

  describe('an outgoing message', () => {
    test('is pending and due when it is committed, with everything that was said of it', async () => {
      await add(
        {},
        {
          destination: 'payments',
          correlationId: 'c-1',
          traceParent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
          traceState: 'vendor=1',
          sendBefore: new Date('2026-02-01T00:00:00Z'),
        },
      );

      const document = '{"id":"m-1","name":"order.paid","version":"1","content":"{\\"order\\":1}"}';
      expect({ ...(await outboxOf(world, 'm-1')) }).toEqual({
        id: 'm-1',
        destination: 'payments',
        name: 'order.paid',
        version: '1',
        document,
        documentSha256: createHash('sha256').update(document).digest('hex'),
        state: 'pending',
        lockToken: null,
        leaseUntil: null,
        leaseEpoch: 0,
        sendCount: 0,
        failureCount: 0,
        nextSendAt: world.time.now(),
        sendDeadline: Date.UTC(2026, 1, 1) * 1000,
        stopCode: null,
        receipt: null,
        correlationId: 'c-1',
        traceParent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        traceState: 'vendor=1',
        createdAt: world.time.now(),
        finishedAt: null,
      });
    });

    test('has null for what was not said', async () => {
      await add();

      expect(await outboxOf(world, 'm-1')).toMatchObject({
        destination: null,
        sendDeadline: null,
        correlationId: null,
        traceParent: null,
        traceState: null,
      });
    });

    test.each([
      ['a number beyond 2^53', '{"n":9007199254740993,"z":1.10}'],
      ['text that SQL and JSON have to escape', `'"\\ \n\t\u0000\u2028 ? ?? :a $1 \\' returning x; -- /* */`],
      ['emoji and other characters of two units', '👩‍👩‍👧 𝒳 日本語 ä'],
      ['nothing', ''],
      ['what is no JSON at all', '<xml/>'],
    ])('keeps its content byte for byte: %s', async (_, content) => {
      await add({ content });

      const { document, documentSha256 } = await outboxOf(world, 'm-1');
      expect((JSON.parse(document) as { content: string }).content).toBe(content);
      expect(documentSha256).toBe(createHash('sha256').update(document, 'utf8').digest('hex'));
    });

    test('is frozen when it is added: what happens to the object afterwards changes nothing', async () => {
      await world.unitOfWork.execute(async ({ outbox }) => {
        const message = { ...aMessage(), content: 'before' };
        outbox.add(message);
        message.content = 'after';
        message.id = 'other';
      });

      expect((await stored(world)).outbox).toEqual(['m-1']);
      expect((await outboxOf(world, 'm-1')).document).toContain('before');
    });

    test('is not sent to the database before the end of work', async () => {
      await world.unitOfWork.execute(async ({ em, outbox }) => {
        outbox.add(aMessage());
        em.persist(new Payment('1'));
        await em.flush();
        expect(world.queries.filter(query => query.includes('durable_outbox_message'))).toEqual([]);
      });

      expect(world.queries.filter(query => query.includes('durable_outbox_message'))).toHaveLength(1);
    });

    test('comes after those that were added before it, whatever the ids', async () => {
      const ids = Array.from({ length: 250 }, (_, index) => `m-${(index * 7919) % 250}`);

      await world.unitOfWork.execute(async ({ outbox }) => ids.forEach(id => outbox.add(aMessage({ id }))));

      expect((await stored(world)).outbox).toEqual(ids);
    });
  });

  describe('the same id', () => {
    test('with the same message in one unit is one message', async () => {
      await world.unitOfWork.execute(async ({ outbox }) => {
        outbox.add(aMessage(), { correlationId: 'first' });
        outbox.add({ ...aMessage() }, { correlationId: 'second' });
      });

      expect((await stored(world)).outbox).toEqual(['m-1']);
      expect((await outboxOf(world, 'm-1')).correlationId).toBe('first');
    });

    test('with the same message that is stored already is no second one, and everything else is committed', async () => {
      await add();
      const before = await outboxOf(world, 'm-1');
      world.time.advance(1000);

      await world.unitOfWork.execute(async ({ em, outbox }) => {
        em.persist(new Payment('1'));
        outbox.add(aMessage());
        outbox.add(aMessage({ id: 'm-2' }));
      });

      expect(await stored(world)).toEqual({ ...nothingStored, payments: ['1'], outbox: ['m-1', 'm-2'] });
      expect(await outboxOf(world, 'm-1')).toEqual(before);
    });

    const others = [
      ['content', { content: '{"order": 1}' }, {}],
      ['name', { name: 'order.refunded' }, {}],
      ['version', { version: '2' }, {}],
      ['destination', {}, { destination: 'elsewhere' }],
    ] as const;

    test.each(others)(
      'with another %s in one unit is refused and rolls everything back',
      async (field, overrides, options) => {
        const execute = world.unitOfWork.execute(async ({ em, outbox }) => {
          em.persist(new Payment('1'));
          outbox.add(aMessage());
          expect(() => outbox.add(aMessage(overrides), options)).toThrow('another message');
        });

        await expect(execute).rejects.toMatchObject({
          code: 'UNIT_ROLLED_BACK',
          cause: { code: 'MESSAGE_CONTRACT', messageId: 'm-1', box: 'outbox', differences: [{ field }] },
        });
        expect(await stored(world)).toEqual(nothingStored);
      },
    );

    test.each(others)(
      'with another %s that is stored already rolls everything back',
      async (field, overrides, options) => {
        await add();
        const before = await outboxOf(world, 'm-1');

        const execute = world.unitOfWork.execute(async ({ em, outbox }) => {
          em.persist(new Payment('1'));
          outbox.add(aMessage({ id: 'm-2' }));
          outbox.add(aMessage(overrides), options);
        });

        await expect(execute).rejects.toMatchObject({ code: 'MESSAGE_CONTRACT', differences: [{ field }] });
        expect(await stored(world)).toEqual({ ...nothingStored, outbox: ['m-1'] });
        expect(await outboxOf(world, 'm-1')).toEqual(before);
      },
    );

    if (driver === 'postgresql') {
      test('from two units at once waits for the first to commit and is one message', async () => {
        const [isWritten, release] = [gate(), gate()];
        const first = world.unitOfWork.execute(async ({ em, outbox }) => {
          em.getEventManager().registerSubscriber({
            // registered after the unit's own: the message is written by then
            beforeTransactionCommit: async () => {
              isWritten.resolve();
              await release.promise;
            },
          });
          outbox.add(aMessage());
        });
        await isWritten.promise;

        const second = world.unitOfWork.execute(async ({ em, outbox }) => {
          em.persist(new Payment('second'));
          outbox.add(aMessage());
        });
        await untilSomebodyWaits();
        release.resolve();

        await Promise.all([first, second]);
        expect(await stored(world)).toEqual({ ...nothingStored, payments: ['second'], outbox: ['m-1'] });
      });

      async function untilSomebodyWaits(): Promise<void> {
        for (let isWaiting = false; !isWaiting;) {
          const [row] = await world.orm.em
            .fork()
            .execute<{ n: string }[]>(`select count(*) as n from pg_stat_activity where wait_event_type = 'Lock'`);
          isWaiting = Number(row!.n) > 0;
        }
      }
    }

    test('with two different messages that name one job are two messages', async () => {
      const content = '{"job":"j-1"}';

      await world.unitOfWork.execute(async ({ outbox }) => {
        outbox.add(aMessage({ id: 'm-1', content }));
        outbox.add(aMessage({ id: 'm-2', content }));
      });

      expect((await stored(world)).outbox).toEqual(['m-1', 'm-2']);
    });
  });

  test('messages are written in the order of their ids, so that two units with the same ones do not deadlock', async () => {
    const added = Array.from({ length: 250 }, (_, index) => `m-${String((index * 7919) % 250).padStart(3, '0')}`);
    const written: unknown[] = [];
    const own = await createWorld(driver, {
      onQuery: (sql, params) => {
        if (/^insert into \S*durable_outbox_message/.test(sql)) written.push(...params);
        return sql;
      },
    });

    await own.unitOfWork.execute(async ({ outbox }) => added.forEach(id => outbox.add(aMessage({ id }))));

    expect(written.filter(value => added.includes(value as string))).toEqual(added.toSorted());
    await dropOrm(own.orm);
  });

  test('a message that the database skips without having it rolls everything back', async () => {
    const skip = {
      postgresql: [
        'create function skip() returns trigger language plpgsql as $$ begin return null; end $$',
        'create trigger skip before insert on durable_outbox_message for each row execute function skip()',
      ],
      sqlite: ['create trigger skip before insert on durable_outbox_message begin select raise(ignore); end'],
    };
    const own = await createWorld(driver);
    for (const statement of skip[driver]) await own.orm.em.fork().execute(statement);

    const execute = own.unitOfWork.execute(async ({ em, outbox }) => {
      em.persist(new Payment('1'));
      outbox.add(aMessage());
    });

    await expect(execute).rejects.toMatchObject({ code: 'MESSAGE_REFUSED', messageId: 'm-1' });
    expect(await stored(own)).toEqual(nothingStored);
    await dropOrm(own.orm);
  });

  test('metadata beyond its limits is refused before any SQL', async () => {
    const execute = world.unitOfWork.execute(async ({ outbox }) => {
      const queries = world.queries.length;
      expect(() => outbox.add(aMessage(), { correlationId: '語'.repeat(86) })).toThrow('`correlationId`');
      expect(world.queries).toHaveLength(queries);
    });

    await expect(execute).rejects.toMatchObject({ cause: { code: 'INVALID_MESSAGE', field: 'correlationId' } });
    expect(world.queries.filter(query => query.includes('durable_outbox_message'))).toEqual([]);
  });
});
