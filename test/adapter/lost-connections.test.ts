import { expect, test } from '@jest/globals';
import { defineJob, jobEntities, Jobs } from '../../src/index.ts';
import { createOrm, dbNameOf, dropOrm, mikroOrmMajor, openOrm } from '../support/orm.ts';
import { aMessage } from '../unit-of-work/world.ts';

const nothing = defineJob<object>()({ name: 'nothing' });

test.each(['', ', also of an ORM that was closed and opened again'])(
  'connections that are cut inside transactions give their slots back to the pool%s',
  async again => {
    const orm = await createOrm('postgresql', [...jobEntities], { pool: { max: 2 } });
    const other = await openOrm('postgresql', [...jobEntities], { dbName: dbNameOf(orm) });
    const jobs = new Jobs({ orm, notifications: false, logger: { info() {}, warn() {}, error() {} } });
    if (again !== '') {
      await jobs.submit(nothing.create({}));
      await orm.close();
      await orm.connect();
    }
    const executor = jobs.executor({ handlers: [jobs.handler(nothing, () => {})], concurrency: 1, pollInterval: '1h' });
    await executor.start();

    for (let cut = 0; cut < 4; cut++) {
      const failed = orm.em.fork().transactional(async em => {
        const [{ pid }] = await em.execute<[{ pid: number }]>('select pg_backend_pid() as pid');
        await other.em.execute('select pg_terminate_backend(?)', [pid]);
        // The first statement meets the end of the connection; by then the pool has heard of it too.
        await em.execute('select 1');
      });
      await expect(failed).rejects.toThrow();
    }

    expect(await jobs.submit(nothing.create({}))).toMatchObject({ created: true });
    await executor.stop();
    await dropOrm(orm);
  },
);

if (mikroOrmMajor === 7) {
  test('jobs run on connections of the host', async () => {
    const orm = await createOrm('postgresql', [...jobEntities]);
    const kysely = (orm.em as unknown as { getKysely(): object }).getKysely();
    const theirs = await openOrm('postgresql', [...jobEntities], { dbName: dbNameOf(orm), driverOptions: kysely });
    const jobs = new Jobs({ orm: theirs, notifications: false });
    const executor = jobs.executor({ concurrency: 2, handlers: [jobs.handler(nothing, () => 'done')] });

    await executor.start();
    const { job } = await jobs.submit(nothing.create({}));

    await expect(jobs.scope('').wait(job.id, { timeout: '30s' })).resolves.toMatchObject({ state: 'succeeded' });
    await executor.stop();
    await dropOrm(orm);
  });

  test('a transaction of an ORM that was closed and opened again is not taken for one that SQLite ended', async () => {
    const orm = await createOrm('sqlite', [...jobEntities], { file: true });
    const jobs = new Jobs({ orm });
    await jobs.submit(nothing.create({}));
    await orm.close();
    await orm.connect();

    await jobs.unitOfWork.execute(async ({ outbox }) => outbox.add(aMessage({ id: 'again' })));

    expect(await orm.em.fork().execute('select id from durable_outbox_message')).toEqual([{ id: 'again' }]);
    await dropOrm(orm);
  });
}
