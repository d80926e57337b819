import { describe, expect, test } from '@jest/globals';
import { IsolationLevel } from '@mikro-orm/core';
import type { Submission } from '../../../src/core/submission.ts';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { dropOrm, forEachDriver } from '../../support/orm.ts';
import { createHost, jobIds, openHost, untilBlocked, useHost, type Host } from './host.ts';

forEachDriver(driver => {
  const host = useHost(driver);

  describe('of two transactions that stage one identity at once', () => {
    test('the second waits for the first, and is answered with its job when that commits', async () => {
      const { first, second } = await twoStages(host, aSubmission({ id: 'job-1' }), aSubmission({ id: 'job-1' }));

      await first.commit();

      expect(await second).toMatchObject({ created: false, matched: 'identity', job: { id: 'job-1' } });
      expect(await jobIds(host)).toEqual(['job-1']);
    });

    test('the second waits for the first, and is refused when that commits another request', async () => {
      const { first, second } = await twoStages(
        host,
        aSubmission({ id: 'job-1' }),
        aSubmission({ id: 'job-1', payload: 'other' }),
      );

      await first.commit();

      await expect(second).rejects.toMatchObject({ code: 'JOB_IDENTITY_CONFLICT' });
      expect(await jobIds(host)).toEqual(['job-1']);
    });

    test('the second waits for the first, and creates the job when that rolls back', async () => {
      const { first, second } = await twoStages(
        host,
        aSubmission({ id: 'job-1' }),
        aSubmission({ id: 'job-1', payload: 'other' }),
      );

      await first.rollback();

      expect(await second).toMatchObject({ created: true, matched: 'none' });
      expect(await jobIds(host)).toEqual(['job-1']);
    });
  });

  test('of sixteen parallel submits of one request one creates the job, and all are answered with it', async () => {
    const results = await Promise.all(
      Array.from({ length: 16 }, () => host.jobs.submit(aSubmission({ id: 'job-1', payload: 'same' }))),
    );

    expect(results.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(results.map(({ job }) => job.createdAt.getTime())).size).toBe(1);
    expect(await jobIds(host)).toEqual(['job-1']);
  });

  test('of sixteen parallel submits of different requests under one identity one creates the job, the others are refused', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 16 }, (_, payload) => host.jobs.submit(aSubmission({ id: 'job-1', payload }))),
    );

    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(
      results.filter(result => result.status === 'rejected' && result.reason.code === 'JOB_IDENTITY_CONFLICT'),
    ).toHaveLength(15);
  });

  test('parallel submits of overlapping batches in any order are all answered, and each job is created once', async () => {
    const submissions = Array.from({ length: 10 }, (_, index) => aSubmission({ id: `job-${index}` }));

    const results = await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        host.jobs.submit(turn % 2 === 0 ? submissions : submissions.toReversed()),
      ),
    );

    expect(results.flat().filter(({ created }) => created)).toHaveLength(10);
    expect(await jobIds(host)).toEqual(submissions.map(({ id }) => id));
  });

  if (driver === 'sqlite') {
    test('beside the transaction of another process, stage() fails with the error by which its host repeats it', async () => {
      const first = await createHost(driver, { file: true });
      const second = await openHost(first);
      await second.orm.em.execute('pragma busy_timeout = 0');
      const writing = first.orm.em.fork();
      await writing.begin();
      await first.jobs.stage(writing, aSubmission({ id: 'job-1' }));
      const again = () =>
        second.orm.em
          .fork({ disableContextResolution: true })
          .transactional(em => second.jobs.stage(em, aSubmission({ id: 'job-1' })));

      await expect(again()).rejects.toMatchObject({ code: 'SQLITE_BUSY' });
      await writing.commit();

      expect(await again()).toMatchObject({ created: false, matched: 'identity' });
      await dropOrm(first.orm);
    });

    test('beside the transaction of another process, submit() waits, and leaves the busy timeout of its host as it was', async () => {
      const first = await createHost(driver, { file: true });
      const second = await openHost(first);
      const writing = first.orm.em.fork();
      await writing.begin();
      await first.jobs.stage(writing, aSubmission({ id: 'job-1' }));

      await second.orm.em.execute('pragma busy_timeout = 4321');

      const submitted = second.jobs.submit(aSubmission({ id: 'job-1' }));
      await Promise.race([submitted, untilRepeated(second)]);
      await writing.commit();

      expect(await submitted).toMatchObject({ created: false, matched: 'identity' });
      expect(await second.orm.em.execute('pragma busy_timeout')).toEqual([{ timeout: 4321 }]);
      await dropOrm(first.orm);
    });
  }

  if (driver === 'postgresql') {
    test('of two transactions that stage two jobs in opposite orders, one gets the deadlock, and its host repeats it', async () => {
      const [a, b] = [aSubmission({ id: 'a' }), aSubmission({ id: 'b' })];
      const [one, two] = [host.orm.em.fork(), host.orm.em.fork()];
      await one.begin();
      await two.begin();
      await host.jobs.stage(one, a);
      await host.jobs.stage(two, b);

      const crossed = await Promise.allSettled([
        host.jobs.stage(one, b).finally(() => one.rollback()),
        host.jobs.stage(two, a).finally(() => two.rollback()),
      ]);

      const failed = crossed.filter(result => result.status === 'rejected');
      expect(failed).toEqual([expect.objectContaining({ reason: expect.objectContaining({ code: '40P01' }) })]);
      expect(failed[0]).toMatchObject({ reason: { name: 'DeadlockException' } });
      expect(await jobIds(host)).toEqual([]);
    });

    test.each([50, 2200])('batches of %i jobs in opposite orders, each in one stage(), do not deadlock', async size => {
      const batch = someSubmissions(size);

      for (let round = 0; round < 5; round++) {
        await Promise.all(
          [batch, batch.toReversed()].map(each => host.orm.em.fork().transactional(em => host.jobs.stage(em, each))),
        );
        await host.orm.em.execute('delete from durable_job');
      }
    });

    test('a submit() that the database gives up as the victim of a deadlock is repeated, and succeeds', async () => {
      const { holding, gate, submitted } = await submitBehindGate(host);
      await untilBlocked(host);

      // submit() holds "a" and waits at the gate; the host, which holds "b", waits for "a"; then submit() meets "b".
      const staged = host.jobs.stage(holding, aSubmission({ id: 'a' }));
      await untilBlocked(host, 2);
      await gate.open();

      expect(await staged).toMatchObject({ created: true });
      await holding.commit();
      expect((await submitted).map(({ created, matched }) => [created, matched])).toEqual([
        [false, 'identity'],
        [false, 'identity'],
      ]);
      expect(await jobIds(host)).toEqual(['a', 'b']);
      await gate.remove();
    });

    describe.each([IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE])(
      'in a %s transaction',
      isolationLevel => {
        test('stage() creates jobs, and finds those that are there', async () => {
          const stored = aSubmission({ id: 'stored' });
          await host.jobs.submit(stored);

          const results = await host.orm.em
            .fork()
            .transactional(em => host.jobs.stage(em, [stored, aSubmission({ id: 'new' })]), { isolationLevel });

          expect(results.map(({ matched }) => matched)).toEqual(['identity', 'none']);
        });

        test('stage() finds a job that was written since the snapshot, as the snapshot has it', async () => {
          const stored = aSubmission({ id: 'stored' });
          await host.jobs.submit(stored);
          const em = host.orm.em.fork();
          await em.begin({ isolationLevel });
          await em.execute('select 1 from durable_job');
          await host.jobs.scope('').cancel('stored');

          const found = await host.jobs.stage(em, stored);
          await em.commit();

          expect(found).toMatchObject({ created: false, matched: 'identity', job: { state: 'queued' } });
        });

        test('stage() refuses another request as in any other transaction', async () => {
          await host.jobs.submit(aSubmission({ id: 'stored' }));

          const refused = host.orm.em
            .fork()
            .transactional(em => host.jobs.stage(em, aSubmission({ id: 'stored', payload: 'other' })), {
              isolationLevel,
            });

          await expect(refused).rejects.toMatchObject({ code: 'JOB_IDENTITY_CONFLICT' });
        });

        test('a job that was committed since the snapshot is a serialization failure, which its host repeats', async () => {
          const submission = aSubmission({ id: 'job-1' });
          const em = host.orm.em.fork();
          await em.begin({ isolationLevel });
          await em.execute('select 1 from durable_job');
          await host.jobs.submit(submission);

          await expect(host.jobs.stage(em, submission)).rejects.toMatchObject({ code: '40001' });
          await em.rollback();
          await em.begin({ isolationLevel });
          const again = await host.jobs.stage(em, submission);
          await em.commit();

          expect(again).toMatchObject({ created: false, matched: 'identity' });
        });
      },
    );
  }
});

/** Resolves when the library has begun its transaction a second time. */
async function untilRepeated({ statements }: Host): Promise<void> {
  const begins = () => statements.filter(statement => /^\[query\]\s+begin/.test(statement)).length;
  const atFirst = begins();

  while (begins() < atFirst + 2) await new Promise(resolve => setImmediate(resolve));
}

/** A first transaction has staged and is open; a second one has been asked to stage, and can't go on. */
async function twoStages(host: Host, firstJob: Submission, secondJob: Submission) {
  const first = host.orm.em.fork();
  await first.begin();
  await host.jobs.stage(first, firstJob);

  const second = host.orm.em.fork().transactional(em => host.jobs.stage(em, secondJob));
  second.catch(() => {});
  // SQLite has one connection: there the second waits for its begin.
  if (host.driver === 'postgresql') await untilBlocked(host);

  return { first, second };
}

/** A submit of "a" and "b" that has inserted "a" and waits at a gate before "b", which a transaction of the host holds. */
async function submitBehindGate({ orm, jobs }: Host) {
  await orm.em.execute(`
    create or replace function wait_at_gate() returns trigger language plpgsql as $$
    begin
      if new.id = 'b' and current_setting('test.is_host', true) is distinct from 'yes' then
        perform set_config('deadlock_timeout', '10ms', true);
        perform pg_advisory_xact_lock(1);
      end if;
      return new;
    end $$`);
  await orm.em.execute('create trigger gate before insert on durable_job for each row execute function wait_at_gate()');
  const gateKeeper = orm.em.fork();
  await gateKeeper.begin();
  await gateKeeper.execute('select pg_advisory_xact_lock(1)');

  const holding = orm.em.fork();
  await holding.begin();
  await holding.execute(`set local test.is_host = 'yes'`);
  await holding.execute(`set local deadlock_timeout = '1h'`);
  await jobs.stage(holding, aSubmission({ id: 'b' }));

  const submitted = jobs.submit([aSubmission({ id: 'a' }), aSubmission({ id: 'b' })]);
  submitted.catch(() => {});

  return {
    holding,
    submitted,
    gate: { open: () => gateKeeper.commit(), remove: () => orm.em.execute('drop trigger gate on durable_job') },
  };
}
