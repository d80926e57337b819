import { describe, expect, test } from '@jest/globals';
import type { EntityManager } from '@mikro-orm/core';
import { Job, jobEntities } from '../../../src/entities/index.ts';
import { Jobs } from '../../../src/jobs.ts';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { createOrm, dropOrm, forEachDriver } from '../../support/orm.ts';
import { createHost, jobIds } from './host.ts';
import { orderSchema } from './order.ts';

forEachDriver(driver => {
  describe('without the tables', () => {
    test('stage() and submit() fail with an error that names the command which makes them', async () => {
      const host = await createHost(driver, { createSchema: false });
      const missing = {
        code: 'SCHEMA_MISSING',
        message: expect.stringContaining('npx mikro-orm migration:create'),
        cause: expect.any(Error),
      };

      await expect(host.jobs.submit(aSubmission())).rejects.toMatchObject(missing);
      await expect(host.jobs.submit(someSubmissions(2))).rejects.toMatchObject(missing);
      await expect(host.orm.em.fork().transactional(em => host.jobs.stage(em, aSubmission()))).rejects.toMatchObject(
        missing,
      );
      await dropOrm(host.orm);
    });

    test('they work as soon as the tables are there', async () => {
      const host = await createHost(driver, { createSchema: false });
      await expect(host.jobs.submit(aSubmission())).rejects.toMatchObject({ code: 'SCHEMA_MISSING' });
      const schema = host.orm.schema as { update?(): Promise<void>; updateSchema?(): Promise<void> };
      await (schema.update ? schema.update() : schema.updateSchema!());

      await host.jobs.submit(aSubmission({ id: 'job-1' }));

      expect(await jobIds(host)).toEqual(['job-1']);
      await dropOrm(host.orm);
    });

    test('so it is with a table that lacks a column', async () => {
      const host = await createHost(driver);
      await host.orm.em.execute('alter table durable_job drop column retry_until');

      await expect(host.jobs.submit(aSubmission())).rejects.toMatchObject({ code: 'SCHEMA_MISSING' });
      await dropOrm(host.orm);
    });
  });

  test('Jobs refuses an ORM that does not know all entities, and names those that are missing', async () => {
    const without = await createOrm(driver, [orderSchema]);
    const incomplete = await createOrm(driver, [orderSchema, jobEntities[0]!]);

    expect(() => new Jobs({ orm: without })).toThrow(
      expect.objectContaining({
        code: 'ENTITIES_NOT_REGISTERED',
        entities: jobEntities.map(({ meta }) => meta.className),
        message: expect.stringMatching(/DurableJob, .*add `\.\.\.jobEntities`/),
      }),
    );
    expect(() => new Jobs({ orm: incomplete })).toThrow(
      expect.objectContaining({ entities: jobEntities.slice(1).map(({ meta }) => meta.className) }),
    );
    await dropOrm(without);
    await dropOrm(incomplete);
  });

  test('Jobs refuses a driver that it has no statements for', async () => {
    const orm = await createOrm(driver, [orderSchema, ...jobEntities]);
    class MySqlPlatform {}
    class MySqlDriver {}
    const em = {
      getContext: () => orm.em,
      getMetadata: () => orm.em.getMetadata(),
      getPlatform: () => new MySqlPlatform(),
      getDriver: () => new MySqlDriver(),
    } as unknown as EntityManager;

    expect(() => new Jobs({ orm: { em } })).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED_DRIVER',
        driver: 'MySqlDriver',
        message: expect.stringMatching(/SQLite and PostgreSQL.*not with MySqlDriver/),
      }),
    );
    await dropOrm(orm);
  });

  test('Jobs refuses what is no initialised ORM', async () => {
    const orm = await createOrm(driver, [orderSchema, ...jobEntities], { createSchema: false });

    for (const given of [undefined, {}, { orm: orm.em }, { orm: Promise.resolve(orm) }]) {
      expect(() => new Jobs(given as never)).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTION',
          option: 'orm',
          message: expect.stringContaining('MikroORM'),
        }),
      );
    }
    await dropOrm(orm);
  });

  test('Jobs sends nothing when it is made', async () => {
    const host = await createHost(driver, { createSchema: false });
    const before = host.statements.length;

    expect(new Jobs({ orm: host.orm }).store.capabilities).toBeDefined();

    expect(host.statements.slice(before)).toEqual([]);
    expect(host.orm.em.getMetadata().get(Job).className).toBe('DurableJob');
    await dropOrm(host.orm);
  });
});
