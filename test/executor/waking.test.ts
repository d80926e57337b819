import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { forEachDriver } from '../support/orm.ts';
import { until } from '../support/until.ts';
import { latch, turns, type Latch } from './support/latch.ts';
import { Note } from './support/note.entity.ts';
import { World } from './support/world.ts';

const work = defineJob<object>()({ name: 'work' });

forEachDriver(driver => {
  let world: World;
  let claims: number;
  let afterClaim: () => Promise<unknown>;
  const ran = new Map<string, Latch>();
  const hasRun = (id: string) => ran.get(id) ?? ran.set(id, latch()).get(id)!;

  beforeEach(async () => {
    ran.clear();
    claims = 0;
    afterClaim = async () => {};
    world = await World.open(driver);
    // What the tests wait for would come with the next poll in a day.
    const executor = world.executor(
      [world.jobs.handler(work, async job => hasRun(job.id).open())],
      { pollInterval: '1d' },
      {
        claim: async call => {
          claims++;
          const answer = await call();
          await afterClaim();
          return answer;
        },
      },
    );
    await executor.start();
  });
  afterEach(() => world.close());

  test('a job that is staged starts after the commit of its transaction, and not before', async () => {
    await world.orm.em.fork().transactional(async em => {
      em.persist(em.create(Note, { id: 'n', text: '' }));
      await world.jobs.stage(em, work.create({}, { id: 'a' }));
      await turns(50);
      expect(claims).toBe(1);
    });

    await hasRun('a').opened;
  });

  test('a job that is submitted, queued again or made due starts at once', async () => {
    await world.jobs.submit(work.create({}, { id: 'submitted' }));
    await hasRun('submitted').opened;

    await world.jobs.submit(work.create({}, { id: 'later', notBefore: new Date('2100-01-01') }));
    await world.jobs.scope('').runNow('later');
    await hasRun('later').opened;

    await world.jobs.submit(work.create({}, { id: 'retried', notBefore: new Date('2100-01-01') }));
    await world.jobs.scope('').cancel('retried');
    await world.jobs.scope('').retry('retried');
    await hasRun('retried').opened;
  });

  test('a job that is committed while the answer of a claim is on its way is not missed', async () => {
    const submitted = latch();
    afterClaim = () => {
      afterClaim = async () => {};
      return world.jobs.submit(work.create({}, { id: 'meanwhile' })).then(() => submitted.open());
    };
    await world.jobs.submit(work.create({}, { id: 'later', notBefore: new Date('2100-01-01') }));
    await submitted.opened;

    await hasRun('meanwhile').opened;
  });

  test('a job that becomes due while nothing else happens starts then', async () => {
    const due = Date.now() + 60;
    await world.jobs.submit(work.create({}, { id: 'a', notBefore: new Date(due) }));

    await hasRun('a').opened;

    expect(Date.now()).toBeGreaterThanOrEqual(due);
  });

  test('an idle executor asks once and then sleeps, also before a job that is due in 60 days', async () => {
    const warnings: unknown[] = [];
    const listener = (warning: Error) => void warnings.push(warning.name);
    process.on('warning', listener);
    await world.jobs.submit(work.create({}, { id: 'a', notBefore: new Date(Date.now() + 60 * 86_400_000) }));
    await until(() => claims === 2);

    await turns(500);
    process.off('warning', listener);

    expect(claims).toBe(2);
    expect(warnings).toEqual([]);
  });
});
