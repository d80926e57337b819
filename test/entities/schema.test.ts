import { afterEach, expect, test } from '@jest/globals';
import { EntityCaseNamingStrategy, MongoNamingStrategy, UnderscoreNamingStrategy } from '@mikro-orm/core';
import { jobEntities } from '../../src/entities/index.ts';
import { createOrm, drivers, dropOrm, forEachDriver, type TestOrm } from '../support/orm.ts';
import { schemaDiff } from './schema-diff.ts';
import { ShoutingNamingStrategy } from './shouting-naming-strategy.ts';

const tables = {
  durable_job:
    'scope_hash id scope name version payload payload_override queue priority max_attempts attempt_limit ' +
    'initial_not_before next_run_at state attempt_count failure_count attempt_token executor_id on_interrupt timeout_ms ' +
    'retry_policy retry_until progress progress_message cancel_requested_at cancel_reason result_ref failure_reason ' +
    'last_error unique_key unique_hash recurring_id trace_parent trace_state metadata changed_by revision created_at ' +
    'finished_at initial_queue',
  durable_job_attempt:
    'scope_hash job_id ordinal token executor_id state progress progress_message failure_reason error result_ref ' +
    'started_at ended_at',
  durable_executor: 'id name host state lease_until started_at metadata',
  durable_job_dependency: 'scope_hash job_id parent_id',
  durable_job_queue: 'name paused max_running changed_by updated_at',
  durable_recurring_job:
    'scope_hash id scope cron time_zone name version payload queue priority max_attempts timeout_ms retry_policy ' +
    'lifetime_ms on_interrupt metadata missed missed_limit overlap next_fire_at last_fire_at paused changed_by ' +
    'created_at updated_at',
  durable_idempotency_claim:
    'key_hash scope key state owner_job_id owner_token claim_expires_at result_expires_at value',
  durable_inbox_message:
    'message_id consumer name version content_hash state token lease_until failure_count next_attempt_at last_error ' +
    'received_at finished_at',
  durable_outbox_message:
    'id destination name version document document_sha256 state lock_token lease_until lease_epoch send_count ' +
    'failure_count next_send_at send_deadline stop_code receipt correlation_id trace_parent trace_state created_at ' +
    'finished_at',
};

const strategies = [
  UnderscoreNamingStrategy,
  EntityCaseNamingStrategy,
  MongoNamingStrategy,
  ShoutingNamingStrategy,
].map(strategy => ({ name: strategy.name, strategy }));

let orm: TestOrm;
afterEach(() => dropOrm(orm));

forEachDriver(driver => {
  test('the tables have the columns of the model and no foreign keys', async () => {
    orm = await createOrm(driver, jobEntities);

    for (const [table, columns] of Object.entries(tables)) {
      expect(await columnsOf(orm, table)).toEqual(columns.split(' '));
    }
    expect(await orm.schema.getCreateSchemaSQL()).not.toMatch(/references|foreign key \(/i);
  });

  test('no column is padded, as a padded one compared with text loses its index', async () => {
    orm = await createOrm(driver, jobEntities);

    expect(await orm.schema.getCreateSchemaSQL()).not.toMatch(/[ "`]char(acter)?\(/i);
  });

  test.each(strategies)('with $name the names stay and the schema diff is empty', async ({ strategy }) => {
    orm = await createOrm(driver, jobEntities, { namingStrategy: strategy });

    for (const [table, columns] of Object.entries(tables)) {
      expect(await columnsOf(orm, table)).toEqual(columns.split(' '));
    }
    expect(await schemaDiff(orm)).toBe('');
  });

  test('a second ORM in the process gets the same schema', async () => {
    orm = await createOrm(driver, jobEntities);

    for (const other of drivers) {
      const second = await createOrm(other, jobEntities);
      expect(await schemaDiff(second)).toBe('');
      if (other === driver) {
        expect(await second.schema.getCreateSchemaSQL()).toBe(await orm.schema.getCreateSchemaSQL());
      }
      await dropOrm(second);
    }
  });
});

if (drivers.includes('postgresql')) {
  test.each(['jobs', 'Mixed Case', 'public'])(
    'on postgresql everything is in the host’s `schema` %p and the diff is empty',
    async schema => {
      orm = await createOrm('postgresql', jobEntities, { schema });

      const places = await orm.em.execute(
        `select distinct n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where relname like 'durable%'`,
      );
      expect(places).toEqual([{ nspname: schema }]);
      expect(await schemaDiff(orm)).toBe('');
    },
  );
}

async function columnsOf(orm: TestOrm, table: string): Promise<string[]> {
  const { columns } = (await orm.em.execute(
    orm.config.get('driver')!.name.includes('Postgre')
      ? `select string_agg(column_name, ' ' order by ordinal_position) as columns from information_schema.columns where table_name = '${table}'`
      : `select group_concat(name, ' ') as columns from pragma_table_info('${table}')`,
    [],
    'get',
  )) as unknown as { columns: string };

  return columns.split(' ');
}
