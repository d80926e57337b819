import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { TransactionEndedError } from '../../src/core/errors.ts';
import { eventually } from '../engine/support/wait.ts';
import { latch } from '../executor/support/latch.ts';
import { World } from '../executor/support/world.ts';
import { drivers, mikroOrmMajor } from '../support/orm.ts';

const work = defineJob<object>()({ name: 'work', maxAttempts: 1 });
const full = { code: 'SQLITE_FULL', message: expect.stringMatching(/SQLITE_FULL|is full/) };

if (drivers.includes('sqlite')) {
  describe.each(['wal', 'delete'])('SQLite, journal %s', journal => {
    let world: World;
    beforeEach(async () => {
      world = await World.open('sqlite', { file: true });
      await execute(`pragma journal_mode = ${journal}`);
    });
    afterEach(() => world.close());

    test('a full disk refuses submits and stages with its own error, nothing of them is there, and they work when there is room', async () => {
      const stored = await fill();
      const several = ['a', 'b', 'c'].map(id => work.create(large, { id }));

      await expect(world.jobs.submit(several)).rejects.toMatchObject(full);
      await expect(world.orm.em.fork().transactional(em => world.jobs.stage(em, several))).rejects.toMatchObject(full);

      expect(await execute('select count(*) as count from durable_job')).toEqual([{ count: stored }]);
      await makeRoom();
      expect((await world.jobs.submit(several)).map(({ created }) => created)).toEqual([true, true, true]);
    });

    test('an outcome that a full disk refuses is written when there is room, and costs no attempt', async () => {
      const gate = latch();
      let running = 0;
      const ids = ['a', 'b'];
      await world.jobs.submit(ids.map(id => work.create({}, { id })));
      const executor = world.executor(
        [
          world.jobs.handler(work, async () => {
            running++;
            await gate.opened;
            throw new Error('x'.repeat(8000));
          }),
        ],
        { concurrency: 2 },
      );
      await executor.start();
      await eventually(() => running === 2);
      await fill();

      gate.open();
      await world.log.until('settle_failed');
      for (const id of ids) expect((await world.job(id)).state).toBe('running');
      await makeRoom();

      for (const id of ids) {
        await eventually(async () => (await world.job(id)).state === 'failed');
        expect(await world.job(id)).toMatchObject({ attemptCount: 1, failureCount: 1 });
      }
      await executor.stop();
      expect(world.log.of('settle_failed')).toHaveLength(1);
      expect(world.log.of('settle_recovered')).toHaveLength(1);
    });

    test('a transaction that SQLite ends by itself, as it may when the disk is full, gives the only connection back', async () => {
      await execute(`create trigger refuse before insert on durable_job when new.id like 'bad%'
                     begin select raise(rollback, 'the database gives up'); end`);
      const bad = ['bad-1', 'bad-2'].map(id => work.create({}, { id }));

      await expect(world.jobs.submit(bad[0]!)).rejects.toThrow(/gives up/);
      await expect(world.jobs.submit(bad)).rejects.toThrow(/gives up/);
      await expect(world.orm.em.fork().transactional(em => world.jobs.stage(em, bad))).rejects.toThrow(/gives up/);

      expect(await world.jobs.submit(work.create({}, { id: 'good' }))).toMatchObject({ created: true });
      expect(await execute('select id from durable_job')).toEqual([{ id: 'good' }]);
    });

    if (mikroOrmMajor === 7) {
      test('nothing is staged in a transaction that SQLite has ended, though its error was caught', async () => {
        await execute('create table business (id integer)');
        await execute(`create trigger refuse_business before insert on business
                       begin select raise(rollback, 'the database gives up'); end`);

        const outcome = world.orm.em.fork().transactional(async em => {
          await em.execute('insert into business values (1)').catch(() => {});
          return world.jobs.stage(em, work.create({}));
        });

        await expect(outcome).rejects.toThrow(TransactionEndedError);
        expect(await execute('select id from durable_job')).toEqual([]);
      });

      test('no attempt is settled in a transaction that SQLite has ended, though its error was caught', async () => {
        await execute('create table business (id integer)');
        await execute(`create trigger refuse_business before insert on business
                       begin select raise(rollback, 'the database gives up'); end`);
        const { job } = await world.jobs.submit(work.create({}, { id: 'a' }));
        const executor = world.executor([
          world.jobs.handler(work, async ({ transactional }) => {
            await transactional(async em => {
              await em.execute('insert into business values (1)').catch(() => {});
            });
          }),
        ]);
        await executor.start();

        await eventually(async () => (await world.job(job.id)).state === 'failed');
        await executor.stop();
      });
    }

    const large = { text: 'x'.repeat(5000) };

    /** @returns how many jobs are stored then */
    async function fill(): Promise<number> {
      const [pages] = await execute<{ page_count: number }>('pragma page_count');
      await execute(`pragma max_page_count = ${pages!.page_count}`);
      const notBefore = new Date('2200-01-01T00:00:00Z');
      while (
        await world.jobs.submit(work.create({}, { notBefore })).then(
          () => true,
          () => false,
        )
      );
      await expect(world.jobs.submit(work.create(large, { notBefore }))).rejects.toMatchObject(full);
      const [jobs] = await execute<{ count: number }>('select count(*) as count from durable_job');

      return jobs!.count;
    }

    async function makeRoom(): Promise<void> {
      await execute('pragma max_page_count = 100000');
    }

    async function execute<Row>(sql: string): Promise<Row[]> {
      return (await world.orm.em.fork().execute(sql)) as Row[];
    }
  });
} else {
  test('a full disk is PostgreSQL’s own matter', () => expect(drivers).toEqual(['postgresql']));
}
