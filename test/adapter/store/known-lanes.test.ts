import { beforeEach, expect, test } from '@jest/globals';
import type { ClaimRequest } from '../../../src/core/store.ts';
import type { Submission } from '../../../src/core/submission.ts';
import { aClaim, anExecutor, aSubmission, buildReport, useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { dueJobs } from './given.ts';
import { StatementLog } from './statement-log.ts';

const windowMs = 50;
const longAgo = new Date('2029-01-01T00:00:00Z');
const dueSince = new Date('2029-12-01T00:00:00Z');

forEachDriver(driver => {
  const log = new StatementLog();
  const on = useJobs(driver, log.options);
  /** A new one for each test, as the store remembers what it knew. */
  let executorId: string;
  beforeEach(async () => {
    const executor = anExecutor();
    executorId = executor.id;
    await on.store.register(executor);
  });

  test('after a claim that came back full, the next ones are sent without a look, for 50 ms', async () => {
    await dueJobs(on, sixJobs());
    await claimTwo();

    const isLooked = async () => (await log.of(claimTwo)).some(statement => statement.startsWith('with recursive'));

    on.clock.advance(windowMs - 1);
    expect(await isLooked()).toBe(false);
    on.clock.advance(1);
    expect(await isLooked()).toBe(true);
  });

  test('a job that is given back is claimed in the same moment, when the lane has no more', async () => {
    await dueJobs(on, sixJobs().slice(0, 4));
    const [a] = (await on.store.claim(twoJobs())).attempts;
    await on.store.release([a!]);

    const ids = [...(await claimTwo()), ...(await claimTwo())];

    expect(ids.sort()).toEqual(['a', 'c', 'd']);
  });

  test('so is one that comes back when the lane gave less than was asked for', async () => {
    await dueJobs(on, sixJobs().slice(0, 3));
    const [a] = (await on.store.claim(twoJobs())).attempts;
    await on.store.release([a!]);

    const second = await claimTwo();
    const third = await claimTwo();

    expect([...second, ...third]).toEqual(driver === 'postgresql' ? ['c', 'a'] : ['a', 'c']);
  });

  test('what comes to stand before the last claim has its turn after 50 ms, however much is behind it', async () => {
    await dueJobs(on, sixJobs());
    const [a] = (await on.store.claim(twoJobs())).attempts;
    await on.store.release([a!]);
    await on.store.submit([aSubmission({ id: 'older', notBefore: longAgo })]);

    on.clock.advance(windowMs);

    expect(await claimTwo()).toEqual(['older', 'a']);
  });

  if (driver === 'postgresql') {
    test('a job that a slow transaction staged earlier and commits later has its turn after 50 ms', async () => {
      const em = on.orm.em.fork();
      await em.begin();
      await on.jobs.stage(em, aSubmission({ id: 'slow', notBefore: dueSince }));
      await dueJobs(on, sixJobs());
      expect(await claimTwo()).toEqual(['a', 'b']);
      await em.commit();

      on.clock.advance(windowMs);

      expect(await claimTwo()).toEqual(['slow', 'c']);
    });
  }

  test('of jobs of one due time and one creation time, those that the last claim left are next', async () => {
    await dueJobs(on, sixJobs());
    await on.orm.em
      .fork()
      .execute(`update durable_job set created_at = 5, next_run_at = 5 where id in ('a', 'b', 'c')`);

    const ids = [...(await claimTwo()), ...(await claimTwo()), ...(await claimTwo())];

    expect(ids.slice(0, 3).sort()).toEqual(['a', 'b', 'c']);
    expect(ids.slice(3)).toEqual(['d', 'e', 'f']);
  });

  test('lanes are not known for longer because the clock was set back', async () => {
    await dueJobs(on, sixJobs());
    await claimTwo();
    on.clock.advance(-3_600_000);
    await on.store.submit([aSubmission({ id: 'important', priority: 1 })]);

    expect(await claimTwo()).toEqual(['important', 'c']);
  });

  test.each([
    ['queues', { queues: ['reports'] }, aSubmission({ id: 'other', queue: 'reports' })],
    ['definitions', { definitions: [buildReport] }, aSubmission({ id: 'other', definition: buildReport })],
  ])('a claim for other %s gets nothing of the lanes that are known', async (_, request, other) => {
    await dueJobs(on, [...sixJobs(), other]);
    await claimTwo();

    const { attempts } = await on.store.claim({ ...twoJobs(), ...request });

    expect(attempts.map(({ id }) => id)).toEqual(['other']);
  });

  test('each executor goes on from where it ended itself', async () => {
    await dueJobs(on, sixJobs());
    await claimTwo();
    const [c] = (await on.store.claim(twoJobs('executor-2'))).attempts;
    await on.store.release([c!]);

    expect(await claimTwo()).toEqual(['c', 'e']);
  });

  async function claimTwo(): Promise<string[]> {
    return (await on.store.claim(twoJobs())).attempts.map(({ id }) => id);
  }

  function twoJobs(of = executorId): ClaimRequest {
    return aClaim({ limit: 2, executorId: of });
  }
});

/** `a` to `f`, in this order. */
function sixJobs(): Submission[] {
  return ['a', 'b', 'c', 'd', 'e', 'f'].map(id => aSubmission({ id, notBefore: dueSince }));
}
