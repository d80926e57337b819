import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { RegisteredHandler } from '../../src/core/handler.ts';
import { PermanentError } from '../../src/core/handler-errors.ts';
import type { Submission } from '../../src/core/submission.ts';
import type { Jobs } from '../../src/jobs.ts';
import { MemoryJobs } from '../../src/memory/index.ts';
import { testJobs } from '../../src/testing/index.ts';
import { Heard } from '../executor/support/heard.ts';
import { Log } from '../executor/support/log.ts';
import { World } from '../executor/support/world.ts';
import { drivers } from '../support/orm.ts';

const work = defineJob<object>()({ name: 'work', version: '2', queue: 'slow', maxAttempts: 1 });
const named = { name: 'work', version: '2', queue: 'slow' };

describe.each(['memory', ...drivers] as const)('on %s', where => {
  let world: World | null;
  let jobs: Pick<Jobs, 'scope' | 'admin' | 'deadLetters' | 'events' | 'store'> & {
    submit(given: Submission[]): unknown;
  };
  let heard: Heard;
  let drain: (handler: (id: string) => unknown) => Promise<unknown>;

  beforeEach(async () => {
    world = where === 'memory' ? null : await World.open(where);
    const target = (world?.jobs ?? new MemoryJobs({ logger: new Log() })) as MemoryJobs;
    jobs = target as never;
    heard = new Heard(target.events);
    const handler = (run: (id: string) => unknown) => target.handler(work, async ({ id }) => void (await run(id)));
    drain = run => testJobs(target).drain({ handlers: [handler(run) as RegisteredHandler<never>] });
  });
  afterEach(() => world?.close());

  const fail = () => Promise.reject(new PermanentError('no'));
  const job = (id: string, ...after: Submission[]) => work.create({}, { id, scope: 's', after });

  test('a retry and a resurrection are told of with who did it', async () => {
    await jobs.submit([job('a'), job('b')]);
    await drain(fail);
    const scope = jobs.scope('s');

    expect(await scope.retry('a', { actor: 'ann' })).toBe('no_starts_left');
    expect(await scope.resurrect('a', { actor: 'ann' })).toBe('queued');
    await scope.resurrect('b', { repaired: job('x') });
    await scope.cancel('a', { reason: 'a wish', actor: 'bob' });
    await scope.retry('a', { actor: 'cid' });

    expect(heard.of('job_resurrected')).toEqual([
      { event: 'job_resurrected', scope: 's', id: 'a', state: 'queued', repaired: false, actor: 'ann' },
      { event: 'job_resurrected', scope: 's', id: 'b', state: 'queued', repaired: true, actor: null },
    ]);
    expect(heard.of('job_retried')).toEqual([
      { event: 'job_retried', scope: 's', id: 'a', state: 'queued', actor: 'cid' },
    ]);
    expect(heard.of('cancel_requested')).toEqual([
      { event: 'cancel_requested', scope: 's', id: 'a', answer: 'cancelled', reason: 'a wish', actor: 'bob' },
    ]);
  });

  test('those of dead letters are told of one by one, and a preview and what is not affected are not', async () => {
    await jobs.submit([job('a'), job('b')]);
    await drain(fail);
    const by = { limit: 10, actor: 'ann' };

    await jobs.deadLetters.resurrect({}, { ...by, preview: true });
    await jobs.deadLetters.retry({}, by);
    expect(heard.of('job_resurrected')).toEqual([]);
    await jobs.deadLetters.resurrect({}, by);
    await jobs.admin.cancelAll({}, { ...by, reason: 'all of them' });
    await jobs.scope('s').deadLetters.retry({ includeCancelled: true }, by);

    const told = { scope: 's', actor: 'ann' };
    expect(heard.of('job_resurrected').map(({ id }) => id).sort()).toEqual(['a', 'b']); // prettier-ignore
    expect(heard.of('job_resurrected')).toMatchObject([told, told]);
    expect(heard.of('cancel_requested')).toMatchObject([told, told]);
    expect(heard.of('job_retried')).toMatchObject([told, told]);
  });

  test('a job that waited is told of when its parents have succeeded, and that is stored', async () => {
    const [first, second] = [job('first'), job('second')];
    await jobs.submit([first, second, job('child', first, second)]);
    const seen: unknown[] = [];
    jobs.events.subscribe(async ({ event }) => {
      if (event === 'job_resolved') seen.push((await jobs.store.get({ scope: 's', id: 'child' }))?.state);
    });

    await drain(id => expect(id === 'second' ? heard.of('job_resolved') : []).toEqual([]));

    expect(heard.of('job_resolved')).toEqual([
      { event: 'job_resolved', scope: 's', id: 'child', ...named, state: 'queued' },
    ]);
    expect(seen).toHaveLength(1);
    expect(seen[0]).not.toBe('awaiting');
  });

  test('jobs that are cancelled with their parent are told of, the grandchildren too', async () => {
    const parent = job('parent');
    const child = job('child', parent);
    await jobs.submit([parent, child, job('grandchild', child)]);

    await drain(fail);

    const told = { event: 'job_resolved', scope: 's', ...named, state: 'cancelled' };
    const byId = [...heard.of('job_resolved')].sort((a, b) => a.id.localeCompare(b.id));
    expect(byId).toEqual([
      { ...told, id: 'child' },
      { ...told, id: 'grandchild' },
    ]);
  });

  test('a job whose parents have ended before it is submitted is staged as it is, and not resolved', async () => {
    const parent = job('parent');
    await jobs.submit([parent]);
    await drain(() => {});

    await jobs.submit([job('child', parent)]);

    expect(heard.of('job_staged').map(({ id, state }) => [id, state])).toEqual([
      ['parent', 'queued'],
      ['child', 'queued'],
    ]);
    expect(heard.of('job_resolved')).toEqual([]);
  });
});
