import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AsyncLocalStorage } from 'node:async_hooks';
import { defineJob } from '../../src/core/definition.ts';
import type { JobSnapshot } from '../../src/core/snapshot.ts';
import { forEachDriver } from '../support/orm.ts';
import { Heard } from './support/heard.ts';
import { Note } from './support/note.entity.ts';
import { PermanentError, type JobMiddleware, type RegisteredHandler } from '../../src/index.ts';
import { World } from './support/world.ts';

const work = defineJob<{ n: number }>()({ name: 'work', retry: false });
const tenant = new AsyncLocalStorage<string>();

forEachDriver(driver => {
  let world: World;

  beforeEach(async () => {
    world = await World.open(driver);
  });
  afterEach(() => world.close());

  test('a middleware sees the job, its signal and the handler’s EntityManager, and nothing that writes', async () => {
    let seen: object = {};
    let em: unknown;
    await run(
      world.jobs.handler(work, job => void (em = job.em)),
      [
        async (job, next) => {
          seen = job;
          return next();
        },
      ],
    );

    expect(seen).toMatchObject({ id: 'a', name: 'work', attempt: 1, payload: { n: 1 }, trace: null, metadata: {} });
    expect(seen).toHaveProperty('signal.aborted', false);
    expect(seen).toHaveProperty('em', em);
    expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['transactional']));
    expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(['progress']));
    expect(Object.isFrozen(seen)).toBe(true);
  });

  test('a context that a middleware sets reaches the handler and its transaction', async () => {
    const seen: unknown[] = [];
    const job = await run(
      world.jobs.handler(work, async running => {
        seen.push(tenant.getStore());
        await running.transactional(async em => {
          seen.push(tenant.getStore());
          em.persist(em.create(Note, { id: 'n', text: tenant.getStore()! }));
          return 'ref';
        });
      }),
      [(_, next) => tenant.run('acme', next)],
    );

    expect(seen).toEqual(['acme', 'acme']);
    expect(job).toMatchObject({ state: 'succeeded', resultRef: 'ref' });
    expect(await world.notes()).toEqual(['n']);
  });

  test.each<[string, JobMiddleware<EntityManager>, Partial<JobSnapshot>]>([
    ['throws a PermanentError', () => Promise.reject(new PermanentError('x')), { state: 'failed', failureReason: 'permanent_error' }],
    ['throws', async (_, next) => { await next(); throw new Error('after'); }, { state: 'failed', failureReason: 'handler_error' }],
    ['answers a string', async (_, next) => `${String(await next())}!`, { state: 'succeeded', resultRef: 'ref!' }],
    ['answers what can be no result', async () => 'x'.repeat(3000), { state: 'failed', failureReason: 'result_invalid' }],
    ['throws at once', () => { throw new Error('sync'); }, { state: 'failed', failureReason: 'handler_error' }],
    ['doesn’t wait for next', async (_, next) => void next(), { state: 'succeeded', resultRef: 'ref' }],
    ['calls next twice', async (_, next) => { await next(); return next(); }, { state: 'failed', failureReason: 'handler_error' }],
  ])('the attempt of a handler whose middleware %s goes by that', async (_, middleware, expected) => {
    let runs = 0;
    const job = await run(world.jobs.handler(work, async () => (runs++, 'ref')), [middleware]);

    expect(job).toMatchObject(expected);
    expect(runs).toBeLessThanOrEqual(1);
  }); // prettier-ignore

  test('a payload that doesn’t fit reaches neither middleware nor handler', async () => {
    const strict = defineJob({ name: 'strict', schema: schemaThatRefuses() });
    const calls: string[] = [];
    await world.jobs.submit(defineJob<object>()({ name: 'strict' }).create({}, { id: 'a' }));
    const job = await finished(
      world.jobs.handler(strict, () => void calls.push('handler')),
      [(_, next) => (calls.push('middleware'), next())],
    );

    expect(job).toMatchObject({ state: 'failed', failureReason: 'payload_invalid' });
    expect(calls).toEqual([]);
  });

  test('middleware that is none is refused when the executor is made', () => {
    const handlers = [world.jobs.handler(work, () => {})];

    expect(() => world.jobs.executor({ handlers, middleware: [{} as never] })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', option: 'middleware' }),
    );
  });

  async function run(handler: RegisteredHandler<EntityManager>, middleware: JobMiddleware<EntityManager>[]) {
    await world.jobs.submit(work.create({ n: 1 }, { id: 'a' }));
    return finished(handler, middleware);
  }

  async function finished(handler: RegisteredHandler<EntityManager>, middleware: JobMiddleware<EntityManager>[]) {
    const heard = new Heard(world.jobs.events);
    const executor = world.jobs.executor({ handlers: [handler], middleware, lease: false });
    await executor.start();
    await heard.until('attempt_settled');
    await executor.stop();

    return world.job('a');
  }
});

function schemaThatRefuses() {
  return {
    '~standard': { version: 1 as const, vendor: 'test', validate: () => ({ issues: [{ message: 'never' }] }) },
  };
}
