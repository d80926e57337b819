import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jobEntities } from '../../src/entities/index.ts';
import { createOrm, drivers, dropOrm, forEachDriver, type Driver, type TestOrm } from '../support/orm.ts';
import { aRunningJob, insert } from './rows.ts';

/** Every index beside the keys: what it covers, and the statement it is named after. */
const indexes = [
  {
    name: 'durable_job_claim',
    columns: 'queue, name, version, priority desc, next_run_at, created_at',
    predicate: `state = 'queued'`,
    serves: [
      `select scope_hash, id from durable_job
       where queue = 'mail' and name = 'send' and version = '1' and priority = 0 and state = 'queued' and next_run_at <= 900
       order by next_run_at, created_at limit 10`,
      `select max(priority) from durable_job where queue = 'mail' and name = 'send' and version = '1' and state = 'queued'`,
      `select next_run_at from durable_job
       where queue = 'mail' and name = 'send' and version = '1' and priority = 0 and state = 'queued'
       order by next_run_at limit 1`,
    ],
  },
  {
    name: 'durable_job_running_executor',
    columns: 'executor_id',
    predicate: `state = 'running'`,
    serves: [`select scope_hash, id from durable_job where state = 'running' and executor_id = 'executor-7'`],
  },
  {
    name: 'durable_job_running_queue',
    columns: 'queue',
    predicate: `state = 'running'`,
    serves: [`select count(*) from durable_job where state = 'running' and queue = 'mail'`],
  },
  {
    name: 'durable_job_awaiting',
    columns: 'scope_hash, id',
    predicate: `state = 'awaiting'`,
    serves: [
      `select scope_hash, id from durable_job where state = 'awaiting'`,
      `select scope_hash, id from durable_job where state = 'awaiting' order by scope_hash, id limit 10`,
    ],
  },
  {
    name: 'durable_job_recurring',
    columns: 'scope_hash, recurring_id, created_at desc',
    predicate: 'recurring_id is not null',
    serves: [
      `select state from durable_job where scope_hash = 'hash-1' and recurring_id = 'nightly' order by created_at desc limit 1`,
    ],
  },
  {
    name: 'durable_job_unique',
    columns: 'unique_hash',
    predicate: 'unique_hash is not null',
    serves: [`select scope_hash, id from durable_job where unique_hash = 'hash-77'`],
  },
  {
    name: 'durable_job_finished',
    columns: 'state, finished_at',
    predicate: 'finished_at is not null',
    serves: [
      `select scope_hash, id from durable_job where state = 'succeeded' and finished_at < 5000 order by finished_at limit 20`,
    ],
  },
  {
    name: 'durable_job_listing',
    columns: 'created_at desc',
    predicate: null,
    serves: [
      `select scope_hash, id from durable_job order by created_at desc limit 50`,
      `select scope_hash, id from durable_job where created_at < 900 order by created_at desc limit 50`,
    ],
  },
  {
    name: 'durable_job_dependency_resolve',
    columns: 'scope_hash, parent_id, job_id',
    predicate: null,
    serves: [`select job_id from durable_job_dependency where scope_hash = 'hash' and parent_id = 'job-77'`],
  },
  {
    name: 'durable_recurring_job_due',
    columns: 'next_fire_at',
    predicate: 'not paused and next_fire_at is not null',
    serves: [
      `select scope_hash, id from durable_recurring_job
       where not paused and next_fire_at <= 40 order by next_fire_at limit 10`,
      `select min(next_fire_at) from durable_recurring_job where not paused and next_fire_at is not null`,
    ],
  },
  {
    name: 'durable_idempotency_claim_results',
    columns: 'result_expires_at',
    predicate: 'result_expires_at is not null',
    serves: [
      `select key_hash from durable_idempotency_claim where result_expires_at <= 40 order by result_expires_at limit 10`,
    ],
  },
  {
    name: 'durable_idempotency_claim_claims',
    columns: 'claim_expires_at',
    predicate: 'claim_expires_at is not null',
    serves: [
      `select key_hash from durable_idempotency_claim where claim_expires_at <= 40 order by claim_expires_at limit 10`,
    ],
  },
  {
    name: 'durable_inbox_message_finished',
    columns: 'state, finished_at',
    predicate: 'finished_at is not null',
    serves: [
      `select message_id, consumer from durable_inbox_message
       where state = 'processed' and finished_at < 5000 order by finished_at limit 20`,
    ],
  },
  {
    name: 'durable_outbox_message_unsent',
    columns: 'state, next_send_at, created_at, id',
    predicate: `state = 'pending' or state = 'sending'`,
    serves: [
      `select id from durable_outbox_message
       where state = 'pending' and next_send_at <= 40 order by next_send_at, created_at, id limit 10`,
    ],
  },
  {
    name: 'durable_outbox_message_finished',
    columns: 'state, finished_at',
    predicate: 'finished_at is not null',
    serves: [
      `select id from durable_outbox_message where state = 'sent' and finished_at < 5000 order by finished_at limit 20`,
    ],
  },
];

forEachDriver(driver => {
  let orm: TestOrm;
  beforeAll(async () => {
    orm = await createOrm(driver, jobEntities);
    await fill(orm);
  });
  afterAll(() => dropOrm(orm));

  test('there are these indexes and no others', async () => {
    const names = (await definitions(orm, driver)).map(({ name }) => name);

    expect(names).toEqual(indexes.map(({ name }) => name).sort());
  });

  test.each(indexes)('$name covers ($columns) where $predicate', async ({ name, columns, predicate }) => {
    const definition = (await definitions(orm, driver)).find(index => index.name === name)!.sql;

    expect(normalised(definition)).toMatch(new RegExp(`^create (unique )?index ${name} on \\w+ `));
    expect(
      normalised(definition)
        .split(` using btree `)
        .at(-1)!
        .split(/ on \w+ /)
        .at(-1),
    ).toBe(normalised(predicate === null ? `(${columns})` : `(${columns}) where ${predicate}`));
  });

  test.each(indexes)('$name serves its statement, in its order', async ({ name, serves }) => {
    for (const statement of serves) {
      const plan = await planOf(orm, driver, statement);

      expect(plan).toContain(name);
      expect(plan).not.toMatch(/"Sort"|TEMP B-TREE/);
    }
  });
});

if (drivers.includes('postgresql')) {
  test('on postgresql writes to a running job touch no index', async () => {
    const orm = await createOrm('postgresql', jobEntities);
    await insert(orm, 'durable_job', aRunningJob());

    const counts = await orm.em.transactional(async em => {
      await em.execute(`update durable_job set progress = 10, progress_message = 'ten', revision = revision + 1`);
      await em.execute(
        `update durable_job set cancel_requested_at = 1, cancel_reason = 'late', revision = revision + 1`,
      );

      return em.execute(
        `select n_tup_hot_upd::int as hot, n_tup_upd::int as all from pg_stat_xact_user_tables where relname = 'durable_job'`,
      );
    });

    expect(counts).toEqual([{ hot: 2, all: 2 }]);
    await dropOrm(orm);
  });
}

async function definitions(orm: TestOrm, driver: Driver): Promise<{ name: string; sql: string }[]> {
  return orm.em.execute(
    driver === 'sqlite'
      ? `select name, sql from sqlite_master where type = 'index' and sql is not null order by name`
      : `select indexname as name, indexdef as sql from pg_indexes
         where schemaname = 'public' and indexname not like '%pkey' order by indexname`,
  );
}

/** Both databases' ways to write the same index. */
function normalised(definition: string): string {
  return definition
    .toLowerCase()
    .replaceAll('"', '')
    .replaceAll('public.', '')
    .replaceAll(/::(text|character varying)/g, '')
    .replaceAll(/where (.*)/g, (_, predicate: string) => `where ${predicate.replaceAll(/[()]/g, '')}`);
}

async function planOf(orm: TestOrm, driver: Driver, statement: string): Promise<string> {
  const explain = driver === 'sqlite' ? 'explain query plan' : 'explain (format json)';

  return JSON.stringify(await orm.em.execute(`${explain} ${statement}`));
}

/** 6,000 jobs, mostly finished; as many messages, dependencies and recurring jobs. Enough for a planner to prefer an index. */
async function fill(orm: TestOrm): Promise<void> {
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000)';
  const columns =
    'scope_hash, id, scope, name, version, payload, queue, priority, max_attempts, attempt_limit, next_run_at, state, ' +
    'attempt_count, failure_count, attempt_token, executor_id, on_interrupt, progress, unique_hash, revision, created_at, ' +
    'finished_at';
  const state = `case when i % 10 = 1 then 'queued' when i % 10 = 2 then 'running' when i % 10 = 3 then 'failed' when i % 100 = 4 then 'awaiting' else 'succeeded' end`;

  await orm.em.execute(
    `insert into durable_job (${columns}) ${numbers} select 'hash', 'job-' || i, '', case when i % 3 = 0 then 'send' else 'print' end,
       '1', '{}', case when i % 7 = 0 then 'mail' else 'default' end, 0, 10, 10, i, ${state}, 1, 0,
       case when i % 10 = 2 then 'token' end, case when i % 10 = 2 then 'executor-' || (i % 40) end, 'hold', 0,
       case when i % 10 = 1 then 'hash-' || i end, 0, i, case when i % 10 not in (1, 2) and i % 100 <> 4 then i end from n`,
  );
  await orm.em.execute(
    `insert into durable_job_dependency (scope_hash, job_id, parent_id)
       ${numbers} select 'hash', 'job-' || i, 'job-' || (i / 2) from n`,
  );
  await orm.em.execute(
    `insert into durable_recurring_job (scope_hash, id, scope, cron, time_zone, name, version, payload, queue, priority,
       max_attempts, on_interrupt, missed, overlap, next_fire_at, paused, created_at, updated_at)
       ${numbers} select 'hash', 'recurring-' || i, '', '0 3 * * *', 'UTC', 'send', '1', '{}', 'mail', 0,
       10, 'hold', 'one', 'queue', case when i % 10 <> 1 then i end, i % 10 = 2, i, i from n`,
  );
  await orm.em.execute(
    `insert into durable_idempotency_claim (key_hash, scope, key, state, owner_job_id, owner_token, claim_expires_at, result_expires_at)
       ${numbers} select 'hash-' || i, '', 'key-' || i, case when i % 10 = 1 then 'in_progress' else 'completed' end, 'job-' || i, 'token',
       case when i % 10 = 1 then i end, case when i % 10 <> 1 then i end from n`,
  );
  await orm.em.execute(
    `insert into durable_inbox_message (message_id, consumer, name, version, content_hash, state, failure_count, received_at, finished_at)
       ${numbers} select 'message-' || i, 'billing', 'order.paid', '1', 'hash', 'processed', 0, i, i from n`,
  );
  await orm.em.execute(
    `insert into durable_outbox_message (id, name, version, document, document_sha256, state, lease_epoch, send_count,
       failure_count, next_send_at, created_at, finished_at)
       ${numbers} select 'message-' || i, 'order.paid', '1', '{}', 'hash', case when i % 10 = 1 then 'pending' else 'sent' end,
       0, 0, 0, i, i, case when i % 10 <> 1 then i end from n`,
  );
  await orm.em.execute('analyze');
}
