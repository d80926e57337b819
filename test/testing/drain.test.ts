import { expect, test } from '@jest/globals';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { PermanentError, SnoozeError } from '../../src/core/handler-errors.ts';
import type { RunningJob } from '../../src/core/handler.ts';
import { DrainLimitError } from '../../src/testing/index.ts';
import { forEachDriver } from '../support/orm.ts';
import { charge, Entry, receipt, step, useShop } from './shop.ts';

forEachDriver(driver => {
  const shop = useShop(driver);

  test('the highest priority runs first, then what has been due longest, then the oldest, and never two at once', async () => {
    const { jobs, kit } = shop;
    const due = new Date(kit.clock.now.getTime() - 1000);
    let running = 0;
    await shop.submit('oldest', 'younger');
    await jobs.submit([
      step.create({ label: 'due longer' }, { id: 'due', notBefore: due }),
      step.create({ label: 'urgent' }, { priority: 5, queue: 'another' }),
    ]);

    const result = await kit.drain({
      handlers: [
        shop.step(async () => {
          expect(++running).toBe(1);
          await new Promise(resolve => setImmediate(resolve));
          running--;
        }),
      ],
    });

    expect(shop.ran).toEqual(['urgent', 'due longer', 'oldest', 'younger']);
    expect(result).toEqual({ succeeded: 4, failed: 0 });
  });

  test('what a handler stages takes its turn by its priority, and what waited for a job follows it', async () => {
    const { jobs, kit } = shop;
    const last = step.create({ label: 'last' }, { priority: -1 });
    await jobs.submit([
      step.create({ label: 'a' }, { id: 'a' }),
      step.create({ label: 'b' }, { id: 'b' }),
      last,
      step.create({ label: 'after last' }, { after: [last], priority: -1 }),
    ]);

    const result = await kit.drain({
      handlers: [
        shop.step(async label => {
          if (label === 'a') await jobs.submit(step.create({ label: 'urgent' }, { priority: 1 }));
        }),
      ],
    });

    expect(shop.ran).toEqual(['a', 'urgent', 'b', 'last', 'after last']);
    expect(result).toEqual({ succeeded: 5, failed: 0 });
  });

  test('a job whose parents ended beside it, so that nobody looked at it, is run too', async () => {
    const { jobs, kit } = shop;
    await shop.submit('parent');
    await kit.drain({ handlers: [shop.step()] });
    await jobs.submit(step.create({ label: 'child' }, { after: [{ scope: '', id: 'parent' }] }));
    await shop.orm.em.fork().execute(`update durable_job set state = 'awaiting' where id <> 'parent'`);

    expect(await kit.drain({ handlers: [shop.step()] })).toEqual({ succeeded: 1, failed: 0 });
    expect(shop.ran).toEqual(['parent', 'child']);
  });

  test('a retry runs when the clock was moved to it, and no sooner', async () => {
    const { kit } = shop;
    const busy = new Error('busy');
    await shop.submit('a');
    const handlers = [
      shop.step(() => {
        if (shop.ran.length === 1) throw busy;
      }),
    ];

    const first = await kit.drain({ handlers });
    const early = await kit.drain({ handlers });
    kit.clock.advance(9_999);
    const stillEarly = await kit.drain({ handlers });
    kit.clock.set(first.nextDueAt!);
    const second = await kit.drain({ handlers });

    expect(first).toEqual({
      succeeded: 0,
      failed: 0,
      rescheduled: 1,
      errors: [{ scope: '', id: 'a', name: 'step', attempt: 1, error: busy }],
    });
    expect(first.errors[0]!.error).toBe(busy);
    // The middle of the jitter: ten seconds to the millisecond.
    expect(first.nextDueAt!.getTime() - kit.clock.now.getTime()).toBe(0);
    expect([early, stillEarly]).toEqual([
      { succeeded: 0, failed: 0 },
      { succeeded: 0, failed: 0 },
    ]);
    expect(second).toEqual({ succeeded: 1, failed: 0 });
    expect([second.rescheduled, second.errors, second.nextDueAt]).toEqual([0, [], null]);
  });

  test('what ends otherwise is told with its reason', async () => {
    const { jobs, kit } = shop;
    const declined = new PermanentError('declined');
    await shop.submit('declined', 'snoozes', 'is-cancelled', 'answers', 'throws-cancelled');
    await jobs.submit(charge.createFromJson('{"orderId":"1","due":"2026-12-01"}', { id: 'wrong' }));
    await shop.orm.em.fork().execute(`update durable_job set payload = '{}' where id = 'wrong'`);

    const result = await kit.drain({
      handlers: [
        jobs.handler(charge, () => {}),
        shop.step(async label => {
          if (label === 'declined') throw declined;
          if (label === 'snoozes') throw new SnoozeError('1h');
          if (label === 'answers') return 'a'.repeat(5000);
          await jobs.scope('').cancel(label);
          if (label === 'throws-cancelled') throw new Error('stopped');
          return undefined;
        }),
      ],
    });

    expect(result).toMatchObject({ succeeded: 0, failed: 3, snoozed: 1, cancelled: 2 });
    expect(result.errors.map(({ id, error }) => [id, String(error)])).toEqual([
      ['declined', expect.stringContaining('declined')],
      ['answers', expect.stringContaining('result reference')],
      ['wrong', expect.stringContaining('does not fit the schema')],
    ]);
    expect(result.nextDueAt).toEqual(new Date(kit.clock.now.getTime() + 3_600_000));
  });

  test('with throwErrors the very error of a handler is thrown, once it is written, and nothing runs after it', async () => {
    const { jobs, kit } = shop;
    const declined = new PermanentError('declined');
    await shop.submit('a', 'b');
    const handlers = [
      shop.step(() => {
        throw declined;
      }),
    ];

    await expect(kit.drain({ handlers, throwErrors: true })).rejects.toBe(declined);

    expect(shop.ran).toEqual(['a']);
    expect((await jobs.scope('').get('a'))!.state).toBe('failed');
  });

  test('a job that stages itself for ever ends in an error, and as many attempts as the limit do not', async () => {
    const { jobs, kit } = shop;
    await shop.submit('again');
    const forever = [shop.step(async label => void (await jobs.submit(step.create({ label }))))];

    await expect(kit.drain({ handlers: forever, limit: 5 })).rejects.toThrow(DrainLimitError);
    expect(shop.ran).toHaveLength(5);

    expect(await kit.drain({ handlers: [shop.step()], limit: 1 })).toEqual({ succeeded: 1, failed: 0 });
  });

  test('a relative delay counts from the clock of the kit', async () => {
    const { jobs, kit } = shop;
    kit.clock.advance('30d');
    const handlers = [
      shop.step(async label => {
        await jobs.unitOfWork.execute(async unit => void (await unit.stage(step.create({ label }, { delay: '1d' }))));
      }),
    ];
    const delayed = step.create({ label: 'daily' }, { delay: '1h' });
    await jobs.submit(delayed);

    const counts = [];
    for (const pause of ['59m', '1m', '23h', '1h'] as const) {
      kit.clock.advance(pause);
      counts.push((await kit.drain({ handlers })).succeeded);
    }

    expect(counts).toEqual([0, 1, 0, 1]);
    expect(await jobs.submit(delayed)).toMatchObject({ created: false, matched: 'identity' });
  });

  test('recurring jobs that have become due are fired, as an executor would', async () => {
    const { jobs, kit } = shop;
    const handlers = [shop.step()];
    kit.clock.set(new Date('2030-01-01T12:00:00Z'));
    await jobs.recurring.upsert('nightly', { cron: '0 3 * * *', job: step.create({ label: 'nightly' }) });

    expect(await kit.drain({ handlers })).toEqual({ succeeded: 0, failed: 0 });
    kit.clock.advance('1d');
    expect(await kit.drain({ handlers })).toEqual({ succeeded: 1, failed: 0 });
    expect(await kit.drain({ handlers })).toEqual({ succeeded: 0, failed: 0 });
  });

  test('recurring jobs are fired inside of a transaction, too, and are due again after its rollback', async () => {
    const { jobs, kit } = shop;
    kit.clock.set(new Date('2030-01-01T12:00:00Z'));
    await jobs.recurring.upsert('nightly', { cron: '0 3 * * *', job: step.create({ label: 'nightly' }) });
    kit.clock.advance('1d');

    await shop.rolledBack(async em => {
      expect(await kit.drain({ em, handlers: [shop.step()] })).toEqual({ succeeded: 1, failed: 0 });
    });

    expect(await shop.countsOf('durable_job')).toEqual([0]);
    expect(await kit.drain({ handlers: [shop.step()] })).toEqual({ succeeded: 1, failed: 0 });
  });

  test.each(['beside everything', 'in a transaction'])('a handler is given what an executor gives: %s', async where => {
    const { jobs, kit } = shop;
    const submission = charge.create(
      { orderId: '7', due: '2026-12-01' },
      { id: 'c', scope: 'acme', queue: 'bank', metadata: { by: 'ann' }, maxAttempts: 3 },
    );
    let given!: RunningJob<{ orderId: string; due: Date }, unknown>;
    const handlers = [
      jobs.handler(charge, async job => {
        given = job;
        job.progress(40, 'asking');
        await job.em.insert(Entry, { id: '7', text: '' });
        return 'charge/7';
      }),
    ];

    let stored;
    if (where === 'in a transaction') {
      await shop.rolledBack(async em => {
        await jobs.stage(em, submission);
        await kit.drain({ em, handlers, throwErrors: true });
        [stored] = await kit.staged(em, charge);
      });
    } else {
      await jobs.submit(submission);
      await kit.drain({ handlers, throwErrors: true });
      stored = await jobs.scope('acme').get('c');
    }

    expect(given).toMatchObject({
      scope: 'acme',
      id: 'c',
      queue: 'bank',
      payload: { orderId: '7', due: new Date('2026-12-01') },
      payloadText: '{"orderId":"7","due":"2026-12-01"}',
      attempt: 1,
      maxAttempts: 3,
      scheduledFor: kit.clock.now,
      metadata: { by: 'ann' },
    });
    expect(given.signal.aborted).toBe(false);
    expect(stored).toMatchObject({
      state: 'succeeded',
      progress: 40,
      progressMessage: 'asking',
      resultRef: 'charge/7',
      attemptCount: 1,
      finishedAt: kit.clock.now,
    });
  });

  test('a time limit aborts the handler by the real time, and fails the attempt', async () => {
    const { jobs, kit } = shop;
    await jobs.submit(step.create({ label: 'slow' }, { timeout: 1 }));

    const result = await kit.drain({
      handlers: [
        jobs.handler(step, job => new Promise<void>(resolve => job.signal.addEventListener('abort', () => resolve()))),
      ],
    });

    expect(result).toMatchObject({ succeeded: 0, failed: 1, errors: [{ error: { why: 'timed_out' } }] });
  });

  test('a cancel reaches the signal of the handler that runs', async () => {
    const { jobs, kit } = shop;
    await shop.submit('a');
    let began!: () => void;
    const begun = new Promise<void>(resolve => (began = resolve));
    const drained = kit.drain({
      handlers: [
        jobs.handler(step, async job => {
          began();
          await new Promise<void>(resolve => job.signal.addEventListener('abort', () => resolve()));
          throw job.signal.reason;
        }),
      ],
    });

    await begun;
    expect(await jobs.scope('').cancel('a', { reason: 'withdrawn' })).toBe('requested');

    expect(await drained).toEqual({ succeeded: 0, failed: 0, cancelled: 1 });
    expect(await jobs.scope('').get('a')).toMatchObject({ state: 'cancelled', cancelReason: 'withdrawn' });
  });

  test('jobs without a handler here, and those of a paused queue, stay queued', async () => {
    const { jobs, kit } = shop;
    await jobs.submit([receipt.create({ orderId: '1' }), step.create({ label: 'paused' }, { queue: 'paused' })]);
    await jobs.queues.pause('paused');

    expect(await kit.drain({ handlers: [shop.step()] })).toEqual({ succeeded: 0, failed: 0 });
    expect((await kit.staged(shop.orm.em.fork() as never)).map(({ state }) => state)).toEqual(['queued', 'queued']);
    expect(await jobs.admin.executors()).toEqual([]);
  });

  test('wrong options are refused before anything is run', async () => {
    const { kit } = shop;
    await shop.submit('a');
    const handlers = [shop.step()];

    await expect((async () => kit.drain({ handlers: [] }))()).rejects.toThrow(InvalidOptionError);
    await expect((async () => kit.drain({ handlers, limit: 0 }))()).rejects.toThrow('limit');
    await expect((async () => kit.drain({ handlers, until: 5 } as never))()).rejects.toThrow('until');
    await expect(kit.staged(shop.orm.em as never, 'step' as never)).rejects.toThrow('made by `defineJob`');
    expect(shop.ran).toEqual([]);
  });
});
