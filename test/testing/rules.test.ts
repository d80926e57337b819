import { expect, test } from '@jest/globals';
import { AmbientTransactionError, InvalidOptionError } from '../../src/core/errors.ts';
import { Jobs } from '../../src/jobs.ts';
import { MemoryJobs } from '../../src/memory/index.ts';
import { DrainLimitError, testJobs } from '../../src/testing/index.ts';
import { Log } from '../executor/support/log.ts';
import { forEachDriver } from '../support/orm.ts';
import { charge, step, useShop } from './shop.ts';

forEachDriver(driver => {
  const shop = useShop(driver);

  test.each([0, -1, 1.5, NaN, '5'])('a limit of %p is refused before anything is run', async limit => {
    await shop.submit('a');

    const drained = (async () => shop.kit.drain({ handlers: [shop.step()], limit: limit as never }))();

    await expect(drained).rejects.toThrow(InvalidOptionError);
    expect(shop.ran).toEqual([]);
  });

  test('what is due later is no reason to complain of the limit', async () => {
    const { jobs, kit } = shop;
    await shop.submit('a');
    await jobs.submit(step.create({ label: 'later' }, { delay: '1h' }));

    expect(await kit.drain({ handlers: [shop.step()], limit: 1 })).toEqual({ succeeded: 1, failed: 0 });
  });

  test.each(['returns', 'throws', 'settles in a transaction'])(
    'an attempt that was ended by others is lost when its handler %s',
    async ending => {
      const { jobs, kit } = shop;
      await shop.submit('a');
      const handler = jobs.handler(step, async job => {
        const running = await jobs.store.running({ limit: 1 });
        await jobs.store.recover(running, { requeue: 'never', reason: 'shutdown' });
        if (ending === 'throws') throw new Error('too late');
        if (ending === 'settles in a transaction') await job.transactional(async () => 'ref').catch(() => {});
      });

      expect(await kit.drain({ handlers: [handler] })).toEqual({ succeeded: 0, failed: 0, lost: 1 });
      expect((await jobs.scope('').get('a'))!.state).toBe('interrupted');
    },
  );

  test('time may be moved by years while a handler runs, and nobody takes its executor for dead', async () => {
    const { jobs, kit } = shop;
    await shop.submit('a');

    const result = await kit.drain({
      handlers: [
        shop.step(async () => {
          kit.clock.advance('3650d');
          expect((await jobs.store.recoverLapsed(10)).lapsed).toEqual([]);
        }),
      ],
      throwErrors: true,
    });

    expect(result).toEqual({ succeeded: 1, failed: 0 });
  });

  test('once() inside a transaction of the handler is refused, as in an executor', async () => {
    const { jobs, kit } = shop;
    await shop.submit('a');
    const once = jobs.handler(step, job =>
      job.em.transactional(() => job.once('key', { ttl: '1d' }, async () => {})).then(() => {}),
    );

    const { errors } = await kit.drain({ handlers: [once] });

    expect(errors[0]!.error).toBeInstanceOf(AmbientTransactionError);
  });

  test('a clock that is set to when the next job is due has reached it, to the microsecond', async () => {
    const odd = Date.UTC(2031, 0, 1) * 1000 + 1;
    const jobs = new Jobs({ orm: shop.orm, clock: { now: () => odd }, logger: shop.log, notifications: false });
    const kit = testJobs(jobs);
    await jobs.submit(step.create({ label: 'a' }));
    let runs = 0;
    const handlers = [jobs.handler(step, () => (++runs === 1 ? Promise.reject(new Error('busy')) : undefined))];

    kit.clock.set((await kit.drain({ handlers })).nextDueAt!);

    expect(await kit.drain({ handlers })).toEqual({ succeeded: 1, failed: 0 });
  });

  test('what is answered is frozen, and a staged job has the stored text beside its payload', async () => {
    const { jobs, kit } = shop;
    await jobs.submit(charge.createFromJson('{"due":"2026-12-01", "orderId":"1"}'));
    const [staged] = await kit.staged(shop.orm.em.fork() as never, charge);
    await shop.submit('a');
    const result = await kit.drain({ handlers: [shop.step(() => Promise.reject(new Error('busy')))] });

    expect(staged!.payloadText).toBe('{"due":"2026-12-01", "orderId":"1"}');
    expect(staged!.payload).toEqual({ orderId: '1', due: new Date('2026-12-01') });
    const answered = [staged, result, result.errors, result.errors[0], kit];
    expect(answered.map(each => Object.isFrozen(each))).toEqual(answered.map(() => true));
  });

  if (driver === 'postgresql') {
    test('a due job that another transaction holds is left alone, and is no endless one', async () => {
      const { kit, orm } = shop;
      await shop.submit('a');
      const holder = orm.em.fork();
      await holder.begin();
      await holder.execute('select 1 from durable_job for update');

      const result = await kit.drain({ handlers: [shop.step()] });
      await holder.rollback();

      expect(result).toEqual({ succeeded: 0, failed: 0 });
    });
  }
});

test('without a limit a drain gives up after a thousand attempts, and says so', async () => {
  const jobs = new MemoryJobs({ logger: new Log() });
  await jobs.submit(step.create({ label: 'again' }));
  const again = jobs.handler(step, async () => void (await jobs.submit(step.create({ label: 'again' }))));

  const given = await testJobs(jobs).drain({ handlers: [again] }).catch((error: unknown) => error); // prettier-ignore

  expect(given).toBeInstanceOf(DrainLimitError);
  expect(given).toMatchObject({ code: 'DRAIN_LIMIT', limit: 1000 });
});

test('recurring jobs are fired before a drain however many are due, in the instant in which they are', async () => {
  const jobs = new MemoryJobs({ logger: new Log() });
  const kit = testJobs(jobs);
  kit.clock.set(new Date('2030-01-01T12:00:00Z'));
  const nightly = { cron: '0 3 * * *', job: step.create({ label: 'nightly' }) };
  await jobs.recurring.replaceAll(Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`nightly-${n}`, nightly])));

  kit.clock.set(new Date('2030-01-02T03:00:00Z'));

  expect(await kit.drain({ handlers: [jobs.handler(step, () => {})] })).toEqual({ succeeded: 250, failed: 0 });
});
