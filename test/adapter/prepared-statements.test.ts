import { afterEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { nativeClientOf } from '../../src/adapter/native-client.ts';
import { OwnSession } from '../../src/adapter/own-session.ts';
import { PostgresqlPreparedStatements } from '../../src/adapter/postgresql-prepared-statements.ts';
import { sqlDialectOf } from '../../src/adapter/sql-dialect-of.ts';
import { prepared, sql } from '../../src/adapter/sql/statement.ts';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { jobEntities } from '../../src/entities/index.ts';
import type { JobsOptions } from '../../src/jobs-options.ts';
import { Jobs } from '../../src/jobs.ts';
import { aClaim, anExecutor, aSubmission, ManualClock, sendMail } from '../support/builders.ts';
import {
  closeOrm,
  createOrm,
  dbNameOf,
  dropOrm,
  forEachDriver,
  mikroOrmMajor,
  openOrm,
  postgresUrl,
  type OpenOptions,
  type OrmOptions,
  type TestOrm,
} from '../support/orm.ts';
import { succeeded } from './store/given.ts';

const oneConnection = { pool: { min: 0, max: 1 } };

forEachDriver(driver => {
  let orm: TestOrm;
  afterEach(() => dropOrm(orm));

  async function jobsWith(options: Partial<JobsOptions<never>> = {}, ormOptions: OrmOptions = {}): Promise<Jobs> {
    orm = await createOrm(driver, jobEntities, { ...oneConnection, ...ormOptions });
    return new Jobs({ orm, notifications: false, ...options } as never);
  }

  /** Everything that is sent over and over, twice. */
  async function useAll(jobs: Jobs, { em }: TestOrm = orm): Promise<void> {
    const executorId = randomUUID();
    await jobs.store.register(anExecutor({ id: executorId }));

    for (const _ of [1, 2]) {
      await jobs.submit(sendMail.create({}));
      await jobs.submit([aSubmission(), aSubmission()]);
      await em.fork().transactional(em => jobs.stage(em, aSubmission({ metadata: { "it's": 'a "?" $1 \\' } })));
      const { attempts } = await jobs.store.claim(aClaim({ executorId }));
      const [first, ...others] = attempts.map(attempt => succeeded(attempt));
      const answers = [...(await jobs.store.settle([first!])), ...(await jobs.store.settle(others))];

      expect(answers).toEqual(Array.from({ length: 4 }, () => ({ answer: 'settled', state: 'succeeded' })));
    }
  }

  /** Sends statements that are prepared; their plans grow old by the clock. */
  async function sessionAt(clock: ManualClock): Promise<OwnSession> {
    await jobsWith();
    const em = orm.em as never;

    return new OwnSession(em, sqlDialectOf(em), Math.random, new PostgresqlPreparedStatements(em, clock));
  }

  test('statements go on after the columns of a table have changed under them', async () => {
    const jobs = await jobsWith();
    await useAll(jobs);

    await orm.em.fork().execute('alter table durable_job add column added text');
    if (driver === 'postgresql') {
      await orm.em.fork().execute('alter table durable_job alter column queue type text');
    }

    await useAll(jobs);
  });

  test("statements go through the host's `onQuery`", async () => {
    const seen: string[] = [];
    const jobs = await jobsWith({}, {
      onQuery: query => (seen.push(query), `${query} /* ${seen.length} */`),
    } as OrmOptions);

    await useAll(jobs);

    expect(seen.filter(query => /^\s*with (started|decided|ended)|update "?`?durable_job/.test(query))).not.toEqual([]);
    expect(await namesOf(orm)).toEqual([]);
  });

  test('an option that is no boolean is refused', async () => {
    await expect(jobsWith({ preparedStatements: 'yes' as never })).rejects.toThrow(InvalidOptionError);
  });

  if (driver === 'postgresql') {
    test('what is sent over and over is prepared on MikroORM 7, and sent as text on 6', async () => {
      await useAll(await jobsWith());

      const names = await namesOf(orm);
      expect(names.length).toBe(mikroOrmMajor === 7 ? 6 : 0);
    });

    test('the look of an executor that drains is prepared, that of an idle one is sent as text', async () => {
      let now = Date.now() * 1000;
      const jobs = await jobsWith({ clock: { now: () => now } });
      const executorId = randomUUID();
      await jobs.store.register(anExecutor({ id: executorId }));
      await jobs.submit([aSubmission(), aSubmission(), aSubmission()]);
      const claim = async () => {
        await jobs.store.claim(aClaim({ executorId, limit: 1 }));
        now += 60_000;

        return (await namesOf(orm)).length;
      };

      const idle = await claim();
      const draining = await claim();
      await claim();

      expect(draining).toBe(mikroOrmMajor === 7 ? idle + 1 : 0);
      expect(await claim()).toBe(draining);
    });

    test('nothing is prepared with `preparedStatements: false`', async () => {
      await useAll(await jobsWith({ preparedStatements: false }));

      expect(await namesOf(orm)).toEqual([]);
    });

    test.each([
      ['nothing is prepared through a pooler', {}, 0],
      ['but with `preparedStatements: true`', { preparedStatements: true }, mikroOrmMajor === 7 ? 6 : 0],
    ])('%s', async (_, options, expected) => {
      await jobsWith();
      const pooler = await openPooler();
      const through = await openOrm(driver, jobEntities, {
        ...oneConnection,
        clientUrl: pooler.url,
        dbName: dbNameOf(orm),
      } as OpenOptions);

      await useAll(new Jobs({ orm: through, notifications: false, ...options } as never), through);
      const names = await namesOf(through);
      await closeOrm(through);
      pooler.close();

      expect(names.length).toBe(expected);
    });

    test('a connection that forgets its statements, as behind a pooler, ends the preparing and nothing else', async () => {
      const jobs = await jobsWith();
      await useAll(jobs);

      await orm.em.fork().execute('deallocate all');
      await useAll(jobs);

      expect(await namesOf(orm)).toEqual([]);
    });

    if (mikroOrmMajor === 7) {
      test('plans are made anew, so that none outlives the size of its table for long', async () => {
        const clock = new ManualClock();
        const session = await sessionAt(clock);
        const find = () => session.read(prepared(sql`select id from grown where id = ${7}`));
        await orm.em.fork().execute('create table grown (id integer primary key) with (autovacuum_enabled = false)');
        await orm.em.fork().execute('insert into grown values (1)');
        await orm.em.fork().execute('vacuum analyze grown');
        for (let times = 0; times < 7; times++) await find();
        await orm.em.fork().execute('insert into grown select generate_series(2, 20000)');

        await find();
        const before = await planOf(orm);
        clock.advance(100);
        await find();
        const after = await planOf(orm);

        expect(before).toContain('Seq Scan');
        expect(after).toContain('Index');
      });

      test('the first plans last 100 ms, as tables grow fast at first; the next twice as long, up to five seconds', async () => {
        const clock = new ManualClock();
        const session = await sessionAt(clock);
        const { prototype } = ((await nativeClientOf(orm.em as never)) as Pool).Client;
        const { query } = prototype;
        const discardedAt: number[] = [];
        let elapsed = 0;
        prototype.query = function (config, ...others) {
          if (isDiscard(config)) discardedAt.push(elapsed);
          return query.call(this, config, ...others);
        };

        try {
          for (; elapsed <= 17_000; elapsed += 50) {
            await session.read(prepared(sql`select 1`));
            clock.advance(50);
          }
        } finally {
          prototype.query = query;
        }

        expect(discardedAt).toEqual([100, 300, 700, 1500, 3100, 6300, 11_300, 16_300]);
      });

      test('each has its callback when `pg` is given it: one assigned by `pg` would keep the rows in memory', async () => {
        const jobs = await jobsWith();
        const { prototype } = ((await nativeClientOf(orm.em as never)) as Pool).Client;
        const { query } = prototype;
        const given: { readonly name?: string; readonly hasCallback: boolean }[] = [];
        prototype.query = function (config, ...others) {
          given.push({ name: config.name!, hasCallback: typeof config.callback === 'function' });
          return query.call(this, config, ...others);
        };

        await useAll(jobs).finally(() => (prototype.query = query));

        const prepared = given.filter(({ name }) => name?.startsWith('durable_job_'));
        expect(prepared.length).toBeGreaterThan(0);
        expect(prepared.filter(({ hasCallback }) => !hasCallback)).toEqual([]);
      });
    }

    test('a transaction of the library that meets a forgotten statement is repeated by the library', async () => {
      const jobs = await jobsWith();
      await useAll(jobs);
      await jobs.queues.limit('default', 5);
      const executorId = randomUUID();
      await jobs.store.register(anExecutor({ id: executorId }));
      await jobs.submit(aSubmission());
      await orm.em.fork().execute('deallocate all');

      const { attempts } = await jobs.store.claim(aClaim({ executorId }));

      expect(attempts.length).toBe(1);
    });

    test('a host that stages in many schemas has a hundred statements prepared on a connection, and no more', async () => {
      const jobs = await jobsWith();
      const schemas = Array.from({ length: 102 }, (_, index) => `tenant_${index}`);
      await orm.em
        .fork()
        .execute(
          schemas
            .map(name => `create schema ${name}; create table ${name}.durable_job (like durable_job including all);`)
            .join(''),
        );

      for (const schema of schemas) {
        const staged = orm.em.fork({ schema }).transactional(em => jobs.stage(em, aSubmission()));
        await expect(staged).resolves.toMatchObject({ created: true });
      }

      expect((await namesOf(orm)).length).toBe(mikroOrmMajor === 7 ? 100 : 0);
    });

    test('a transaction that fails for a forgotten statement works when it is repeated', async () => {
      const jobs = await jobsWith();
      const stageOne = () => orm.em.fork().transactional(em => jobs.stage(em, aSubmission()));
      await stageOne();
      await orm.em.fork().execute('deallocate all');

      const repeated = stageOne().catch(stageOne);

      await expect(repeated).resolves.toMatchObject({ created: true });
    });
  }
});

/** The pool of `pg`. */
interface Pool {
  readonly Client: {
    readonly prototype: {
      query(config: { name?: string; text?: string; callback?: unknown }, ...others: unknown[]): unknown;
    };
  };
}

function isDiscard(query: string | { readonly text?: string }): boolean {
  return (typeof query === 'string' ? query : query.text) === 'discard plans';
}

/** What is prepared on the only connection. */
async function namesOf(orm: TestOrm): Promise<string[]> {
  if (orm.em.getPlatform().constructor.name.startsWith('Sqlite')) return [];

  const rows = await orm.em.fork().execute(`select name from pg_prepared_statements`);
  return rows.map(({ name }) => String(name)).filter(name => name.startsWith('durable_job_'));
}

async function planOf(orm: TestOrm): Promise<string> {
  const [name] = await namesOf(orm);
  const rows = await orm.em.fork().execute(`explain execute ${name} (7)`);

  return JSON.stringify(rows);
}

/** Stands before the server like a pooler: it tells its clients of processes of its own making. */
async function openPooler(): Promise<{ readonly url: string; close(): void }> {
  const url = new URL(postgresUrl());
  const { hostname, port } = url;
  const server = net.createServer(client => {
    const upstream = net.connect(Number(port || 5432), hostname);
    client.on('error', () => {}).on('close', () => upstream.destroy());
    client.pipe(upstream.on('error', () => {}));
    upstream.on('data', (data: Buffer) => {
      const key = data.indexOf(Buffer.from([...Buffer.from('K'), 0, 0, 0, 12]));
      if (key >= 0) data.writeUInt32BE(4711, key + 5);
      client.write(data);
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as net.AddressInfo).port);

  return { url: url.href, close: () => void server.close() };
}
