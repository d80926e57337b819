import type { EntityManager } from '@mikro-orm/postgresql';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { defineJob } from '../../src/core/definition.ts';
import type { RunningJob } from '../../src/core/handler.ts';
import { PermanentError } from '../../src/core/handler-errors.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { latch, turns } from './support/latch.ts';
import { Note } from './support/note.entity.ts';
import { World } from './support/world.ts';

const greet = defineJob<{ name: string }>()({ name: 'greet' });

forEachDriver(driver => {
  let world: World;
  beforeEach(async () => void (world = await World.open(driver)));
  afterEach(() => world.close());

  test('a due job runs, and what its handler returns is its result reference', async () => {
    const ran = latch();
    await world.jobs.submit(greet.create({ name: 'Ada' }, { id: 'a' }));
    const executor = world.executor([
      world.jobs.handler(greet, async job => {
        ran.open();
        return `greeting/${job.payload.name}`;
      }),
    ]);

    await executor.start();
    await ran.opened;
    await executor.stop();

    expect(await world.job('a')).toMatchObject({ state: 'succeeded', resultRef: 'greeting/Ada', attemptCount: 1 });
    expect(await world.jobs.scope('').attempts('a')).toMatchObject([{ attempt: 1, state: 'succeeded' }]);
    expect(world.log.troubles).toEqual([]);
  });

  test('an executor that Jobs makes runs what Jobs takes', async () => {
    const ran = latch();
    await world.jobs.submit(greet.create({ name: 'Ada' }, { id: 'a' }));
    const executor = world.jobs.executor({
      handlers: [world.jobs.handler(greet, async job => job.transactional(async () => ran.open()))],
      concurrency: 2,
    });

    await executor.start();
    await ran.opened;
    await executor.stop();

    expect((await world.job('a')).state).toBe('succeeded');
  });

  test('a handler is told all that its job says of itself, with functions that work detached', async () => {
    const seen = latch<RunningJob<{ name: string }, unknown>>();
    const notBefore = new Date('2026-01-01T00:00:00Z');
    await world.jobs.submit(
      greet.create(
        { name: 'Ada' },
        { id: 'a', scope: 'acme', queue: 'q', metadata: { by: 'test' }, notBefore, maxAttempts: 3 },
      ),
    );
    const executor = world.executor([
      world.jobs.handler(greet, async job => {
        const { progress } = job;
        progress(10);
        seen.open(job);
      }),
    ]);

    await executor.start();
    const job = await seen.opened;
    await executor.stop();

    const { scope, id, payload, payloadText, name, version, queue, attempt, maxAttempts, scheduledFor, metadata } = job;
    expect({
      scope,
      id,
      payload,
      payloadText,
      name,
      version,
      queue,
      attempt,
      maxAttempts,
      scheduledFor,
      metadata,
    }).toEqual({
      scope: 'acme',
      id: 'a',
      payload: { name: 'Ada' },
      payloadText: '{"name":"Ada"}',
      name: 'greet',
      version: '1',
      queue: 'q',
      attempt: 1,
      maxAttempts: 3,
      scheduledFor: notBefore,
      metadata: { by: 'test' },
    });
    expect(Object.isFrozen(job)).toBe(true);
  });

  test('an attempt has an EntityManager of its own, and injected repositories use it', async () => {
    const managers: unknown[] = [];
    const bothIn = latch();
    await world.jobs.submit([greet.create({ name: 'Ada' }), greet.create({ name: 'Bob' })]);
    const executor = world.executor([
      world.jobs.handler(greet, async job => {
        managers.push(job.em, world.orm.em.getContext());
        if (managers.length === 4) bothIn.open();
        await bothIn.opened;
        job.em.persist(job.em.create(Note, { id: job.payload.name, text: '' }));
        await world.orm.em.flush();
      }),
    ]);

    await executor.start();
    await bothIn.opened;
    await executor.stop();

    const [first, firstAmbient, second, secondAmbient] = managers;
    expect([first === firstAmbient, second === secondAmbient, first === second]).toEqual([true, true, false]);
    expect(await world.notes()).toEqual(['Ada', 'Bob']);
  });

  test('what a handler persisted or removed and never flushed is told of, and nothing else', async () => {
    const note = (em: EntityManager) => em.create(Note, { id: randomUUID(), text: '' }, { persist: false });
    const works: Record<string, (job: RunningJob<{ name: string }, EntityManager>) => Promise<unknown>> = {
      nothing: async () => {},
      persisted: async ({ em }) => void em.persist(note(em)),
      removed: async ({ em }) => {
        const stored = note(em);
        await em.persist(stored).flush();
        em.remove(stored);
      },
      flushed: ({ em }) => em.persist(note(em)).flush(),
      transactional: job => job.transactional(async em => void em.persist(note(em))),
      beside: async job => {
        job.em.persist(note(job.em));
        await job.transactional(async () => {});
      },
      thrown: async ({ em }) => {
        em.persist(note(em));
        throw new PermanentError('no');
      },
    };
    await world.jobs.submit(Object.keys(works).map(name => greet.create({ name }, { id: name })));
    const executor = world.executor([
      world.jobs.handler(greet, async job => void (await works[job.payload.name]!(job as never))),
    ]);

    await executor.start();
    await until(async () => (await world.jobs.admin.counts()).byState.failed === 1);
    await until(async () => (await world.jobs.admin.counts()).byState.succeeded === 6);
    await executor.stop();

    const told = world.log.of('unflushed_work').map(({ id }) => id);
    expect(told.sort()).toEqual(['beside', 'persisted', 'removed']);
  });

  test('a job whose definition no executor knows stays queued', async () => {
    const other = defineJob<object>()({ name: 'greet', version: '2' });
    const ran = latch();
    await world.jobs.submit([other.create({}, { id: 'unknown' }), greet.create({ name: 'Ada' })]);
    const executor = world.executor([world.jobs.handler(greet, async () => ran.open())]);

    await executor.start();
    await ran.opened;
    await executor.stop();

    expect(await world.job('unknown')).toMatchObject({ state: 'queued', attemptCount: 0 });
  });

  test('an executor serves its queues only', async () => {
    const ran: string[] = [];
    const done = latch();
    await world.jobs.submit(greet.create({ name: 'elsewhere' }, { queue: 'other', id: 'elsewhere' }));
    await world.jobs.submit(greet.create({ name: 'here' }, { queue: 'mail' }));
    const executor = world.executor(
      [
        world.jobs.handler(greet, async job => {
          ran.push(job.payload.name);
          done.open();
        }),
      ],
      { queues: ['mail'] },
    );

    await executor.start();
    await done.opened;
    await executor.stop();

    expect(ran).toEqual(['here']);
    expect((await world.job('elsewhere')).state).toBe('queued');
  });

  test('no more handlers run at once than the concurrency says', async () => {
    let running = 0;
    let most = 0;
    let ended = 0;
    const gate = latch();
    const full = latch();
    await world.jobs.submit(Array.from({ length: 20 }, () => greet.create({ name: 'x' })));
    const executor = world.executor(
      [
        world.jobs.handler(greet, async () => {
          most = Math.max(most, ++running);
          if (running === 3) full.open();
          await gate.opened;
          running--;
          ended++;
        }),
      ],
      // Polling alone would take minutes.
      { concurrency: 3, pollInterval: '5m' },
    );

    await executor.start();
    await full.opened;
    await world.jobs.submit(greet.create({ name: 'one more' }));
    await turns(500);
    expect(running).toBe(3);
    gate.open();
    await until(() => ended === 21);
    await executor.stop();

    expect(most).toBe(3);
    expect((await world.jobs.store.running({ limit: 1 })).length).toBe(0);
  });

  test('a slot is free when its handler has ended, before the outcome is written', async () => {
    const second = latch();
    const ran: string[] = [];
    await world.jobs.submit([greet.create({ name: 'first' }), greet.create({ name: 'second' })]);
    const executor = world.executor(
      [
        world.jobs.handler(greet, async job => {
          ran.push(job.payload.name);
          if (ran.length === 2) second.open();
          // The executor has found its only slot taken by then.
          await turns(50);
        }),
      ],
      { concurrency: 1, pollInterval: '5m' },
      { settle: call => second.opened.then(call) },
    );

    await executor.start();
    await second.opened;
    await executor.stop();

    expect(ran).toEqual(['first', 'second']);
    expect(await world.jobs.store.running({ limit: 1 })).toEqual([]);
  });

  test('a payload that does not fit the schema fails its job without the handler', async () => {
    let calls = 0;
    const strict = defineJob({
      name: 'greet',
      schema: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: (value: unknown) =>
            (value as { age?: number }).age === undefined
              ? { issues: [{ message: 'age is missing' }] }
              : { value: value as { age: number } },
        },
      },
    });
    await world.jobs.submit(greet.create({ name: 'Ada' }, { id: 'a' }));
    const executor = world.executor([world.jobs.handler(strict, async () => void calls++)]);

    await executor.start();
    await until(async () => (await world.job('a')).state === 'failed');
    await executor.stop();

    expect(calls).toBe(0);
    const { failureReason, lastError } = await world.job('a');
    expect(failureReason).toBe('payload_invalid');
    expect(lastError).toContain('age is missing');
  });

  test('a result that can be no reference fails the job, without retry', async () => {
    await world.jobs.submit(greet.create({ name: 'Ada' }, { id: 'a' }));
    const executor = world.executor([world.jobs.handler(greet, async () => 'x'.repeat(2049))]);

    await executor.start();
    await until(async () => (await world.job('a')).state !== 'queued' && (await world.job('a')).state !== 'running');
    await executor.stop();

    expect(await world.job('a')).toMatchObject({ state: 'failed', failureReason: 'result_invalid', attemptCount: 1 });
  });
});
