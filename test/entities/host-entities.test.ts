import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { defineEntity, p } from '@mikro-orm/core';
import { Job as DurableJob, jobEntities } from '../../src/entities/index.ts';
import { createOrm, dropOrm, forEachDriver, type TestOrm } from '../support/orm.ts';
import { aJob, insert } from './rows.ts';
import { schemaDiff } from './schema-diff.ts';

/** A job that somebody applies for. */
class Job {
  id!: string;
  salary!: number;
}

const hostJob = defineEntity({
  class: Job,
  tableName: 'job',
  properties: { id: p.string().primary(), salary: p.integer() },
});

forEachDriver(driver => {
  let orm: TestOrm;
  beforeAll(async () => void (orm = await createOrm(driver, [hostJob, ...jobEntities])));
  afterAll(() => dropOrm(orm));

  test('an entity `Job` and a table `job` of the host live beside the library’s', async () => {
    const em = orm.em.fork();
    em.persist(em.create(Job, { id: 'job-1', salary: 4711 }));
    await em.flush();
    await insert(orm, 'durable_job', aJob({ id: 'job-1' }));
    em.clear();

    expect(await em.findOneOrFail(Job, 'job-1')).toMatchObject({ salary: 4711 });
    expect(await em.findOneOrFail(DurableJob, { id: 'job-1' })).toMatchObject({ scope: 'acme' });
    expect(await em.execute('select id, salary from job')).toEqual([{ id: 'job-1', salary: 4711 }]);
    expect(await schemaDiff(orm)).toBe('');
  });

  test('the library’s classes are registered as `Durable…`', () => {
    expect(orm.getMetadata().get(DurableJob)).toMatchObject({ className: 'DurableJob', tableName: 'durable_job' });
    expect(orm.getMetadata().get(Job)).toMatchObject({ className: 'Job', tableName: 'job' });
  });
});
