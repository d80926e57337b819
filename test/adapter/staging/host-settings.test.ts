import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  EntityCaseNamingStrategy,
  MongoNamingStrategy,
  UnderscoreNamingStrategy,
  defineEntity,
  p,
  type NamingStrategy,
} from '@mikro-orm/core';
import { Job, jobEntities } from '../../../src/entities/index.ts';
import { ShoutingNamingStrategy } from '../../entities/shouting-naming-strategy.ts';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { closeOrm, dbNameOf, dropOrm, forEachDriver, postgresUrl } from '../../support/orm.ts';
import { createHost, idsIn, jobIds, openHost, sentDuring, untilBlocked, type Host, type HostOptions } from './host.ts';
import { orderSchema } from './order.ts';

/** Everything that stage and submit do, once each. */
async function useBoth({ orm, jobs }: Host): Promise<unknown[]> {
  const staged = await orm.em.fork().transactional(em => jobs.stage(em, aSubmission({ id: 'staged' })));
  const submitted = await jobs.submit(aSubmission({ id: 'submitted' }));
  const again = await jobs.submit([aSubmission({ id: 'staged' }), aSubmission({ id: 'submitted' })]);
  const found = await orm.em.fork().transactional(em => jobs.stage(em, aSubmission({ id: 'submitted' })));

  return [staged, submitted, ...again, found].map(({ job, matched }) => `${job.id} ${matched}`);
}

const worked = ['staged none', 'submitted none', 'staged identity', 'submitted identity', 'submitted identity'];

class HostJob {
  id!: string;
}

const hostJobSchema = defineEntity({
  class: HostJob,
  name: 'Job',
  tableName: 'job',
  properties: { id: p.string().primary() },
});

forEachDriver(driver => {
  const strategies: (new () => NamingStrategy)[] = [
    EntityCaseNamingStrategy,
    MongoNamingStrategy,
    UnderscoreNamingStrategy,
    ShoutingNamingStrategy,
  ];
  const settings: { title: string; options: HostOptions }[] = [
    ...strategies.map(namingStrategy => ({ title: `with ${namingStrategy.name}`, options: { namingStrategy } })),
    {
      title: 'with a filter on every entity that names a column which jobs do not have',
      options: { filters: { tenant: { name: 'tenant', cond: { tenant: 'acme' }, default: true } } } as HostOptions,
    },
    {
      title: 'with a subscriber that fails for entities which it does not know, and for every flush of anything else',
      options: {
        subscribers: [
          {
            onInit: ({ entity }) => refuseUnknown(entity),
            beforeCreate: async ({ entity }) => refuseUnknown(entity),
            onFlush: async ({ uow }) => uow.getChangeSets().forEach(({ entity }) => refuseUnknown(entity)),
          },
        ],
      },
    },
    {
      title: 'with persistOnCreate and auto-flush',
      options: { persistOnCreate: true, flushMode: 'always' } as HostOptions,
    },
    { title: 'without implicit transactions', options: { implicitTransactions: false } },
    { title: 'with a context name of its own', options: { contextName: 'second' } },
    { title: 'without the global context', options: { allowGlobalContext: false } },
    { title: 'with forced UTC', options: { forceUtcTimezone: true } },
    { title: 'with batches off', options: { useBatchInserts: false, useBatchUpdates: false } },
  ];

  describe('on one database', () => {
    let first: Host;
    beforeAll(async () => void (first = await createHost(driver, { file: true })));
    beforeEach(() => first.orm.em.execute('delete from durable_job'));
    afterAll(() => dropOrm(first.orm));

    test.each(settings)('stage() and submit() work $title', async ({ options }) => {
      const host = await openHost(first, options);

      expect(await useBoth(host)).toEqual(worked);
      expect(await jobIds(first)).toEqual(['staged', 'submitted']);
      await closeOrm(host.orm);
    });
  });

  test('stage() and submit() work beside an entity Job and a table job of the host', async () => {
    const host = await createHost(driver, { entities: [hostJobSchema, orderSchema, ...jobEntities] });
    await host.orm.em
      .fork()
      .persist(Object.assign(new HostJob(), { id: 'mine' }))
      .flush();

    expect(await useBoth(host)).toEqual(worked);
    expect([await jobIds(host), await idsIn(host.orm, 'job')]).toEqual([['staged', 'submitted'], ['mine']]);
    await dropOrm(host.orm);
  });

  test('two ORMs in one process keep their jobs apart, whatever transaction is open on the other', async () => {
    const [a, b] = [await createHost(driver), await createHost(driver)];

    await a.orm.em.fork().transactional(async em => {
      await a.jobs.stage(em, aSubmission({ id: 'staged-in-a' }));
      await b.jobs.submit(aSubmission({ id: 'submitted-to-b' }));
      await b.orm.em
        .fork({ disableContextResolution: true })
        .transactional(other => b.jobs.stage(other, aSubmission({ id: 'staged-in-b' })));
    });
    await a.jobs.submit(aSubmission({ id: 'submitted-to-a' }));

    expect(await jobIds(a)).toEqual(['staged-in-a', 'submitted-to-a']);
    expect(await jobIds(b)).toEqual(['staged-in-b', 'submitted-to-b']);
    await dropOrm(a.orm);
    await dropOrm(b.orm);
  });

  if (driver === 'postgresql') {
    test('nothing is read from a read replica', async () => {
      const empty = await createHost(driver);
      const host = await createHost(driver);
      const replicas = [{ name: 'replica', ...connectionTo(empty) }];
      const replicated = await openHost(host, { preferReadReplicas: true, replicas });

      expect(await useBoth(replicated)).toEqual(worked);
      expect(await replicated.jobs.scope('').get('staged')).toMatchObject({ id: 'staged' });
      expect(await replicated.orm.em.fork().find(Job, {})).toEqual([]); // other reads do ask the replica
      await dropOrm(host.orm);
      await dropOrm(empty.orm);
    });

    test('the tables may be in a schema of the configuration', async () => {
      const host = await createHost(driver, { schema: 'app' });

      expect(await useBoth(host)).toEqual(worked);
      expect(await idsIn(host.orm, 'app.durable_job')).toEqual(['staged', 'submitted']);
      await dropOrm(host.orm);
    });

    test('stage() writes to the schema of the EntityManager that it is given', async () => {
      const host = await createHost(driver);
      for (const schema of ['tenant_a', 'tenant_b']) {
        await host.orm.em.execute(`create schema ${schema}`);
        await host.orm.em.execute(`create table ${schema}.durable_job (like durable_job including all)`);
      }

      for (const schema of ['tenant_a', 'tenant_b']) {
        await host.orm.em
          .fork({ schema })
          .transactional(em => host.jobs.stage(em, aSubmission({ id: 'job-1', payload: schema })));
      }

      expect(await idsIn(host.orm, 'tenant_a.durable_job')).toEqual(['job-1']);
      expect(await idsIn(host.orm, 'tenant_b.durable_job')).toEqual(['job-1']);
      expect(await jobIds(host)).toEqual([]);
      await dropOrm(host.orm);
    });

    describe.each(['repeatable read', 'serializable'])('where %s is the default of the database', level => {
      let first: Host;
      let host: Host;
      beforeAll(async () => {
        first = await createHost(driver);
        await first.orm.em.execute(
          `alter database ${dbNameOf(first.orm)} set default_transaction_isolation = '${level}'`,
        );
        host = await openHost(first);
      });
      beforeEach(() => first.orm.em.execute('delete from durable_job'));
      afterAll(() => dropOrm(first.orm));

      test('submit() creates, finds and refuses as under read committed', async () => {
        const submissions = someSubmissions(5);

        const [same, batches] = await Promise.all([
          Promise.all(Array.from({ length: 16 }, () => host.jobs.submit(aSubmission({ id: 'same' })))),
          Promise.all(
            Array.from({ length: 8 }, (_, turn) =>
              host.jobs.submit(turn % 2 === 0 ? submissions : submissions.toReversed()),
            ),
          ),
        ]);

        expect(await host.orm.em.execute('show transaction_isolation')).toEqual([{ transaction_isolation: level }]);
        expect(same.filter(({ created }) => created)).toHaveLength(1);
        expect(batches.flat().filter(({ created }) => created)).toHaveLength(5);
        await expect(host.jobs.submit(aSubmission({ id: 'same', payload: 'other' }))).rejects.toMatchObject({
          code: 'JOB_IDENTITY_CONFLICT',
        });
      });

      test.each([1, 2])('submit() of %i jobs that had to wait for another transaction is not repeated', async count => {
        const submissions = someSubmissions(count);
        const em = first.orm.em.fork();
        await em.begin();
        await first.jobs.stage(em, submissions);

        const sent = await sentDuring(host, async () => {
          const submitted = host.jobs.submit(submissions);
          await Promise.race([submitted, untilBlocked(first)]);
          await em.commit();
          expect((await submitted).map(({ matched }) => matched)).toEqual(submissions.map(() => 'identity'));
        });

        expect(sent.filter(statement => statement.includes('insert into'))).toHaveLength(1);
      });
    });
  }
});

function refuseUnknown(entity: object): void {
  if (!('note' in entity)) throw new Error(`what is ${entity.constructor.name}?`);
}

function connectionTo({ orm }: Host) {
  const { hostname, port, username, password } = new URL(postgresUrl());

  return { host: hostname, port: Number(port), user: username, password, dbName: dbNameOf(orm) };
}
