import type { Driver, TestOrm } from '../support/orm.ts';

/** All that the database knows of the library's tables, in the database's own words. */
export async function catalogOf(orm: TestOrm, driver: Driver): Promise<unknown> {
  const statements = driver === 'sqlite' ? onSqlite : onPostgresql;

  return Promise.all(statements.map(sql => orm.em.fork().execute(sql)));
}

const onPostgresql = [
  `select table_schema, table_name, column_name, data_type, character_maximum_length, is_nullable, column_default, ordinal_position
   from information_schema.columns where table_name like 'durable%' order by table_schema, table_name, ordinal_position`,
  `select conrelid::regclass::text as on_table, conname, pg_get_constraintdef(oid) as definition
   from pg_constraint where conrelid::regclass::text like '%durable%' and contype <> 'n' order by 1, 2`,
  `select schemaname, tablename, indexname, indexdef from pg_indexes where tablename like 'durable%' order by 1, 2, 3`,
];

// the text of a table is formatted by its author: only the CHECKs' names are taken from it
const onSqlite = [
  `select t.name as on_table, c.name, c.type, c."notnull", c.dflt_value, c.pk
   from sqlite_master t, pragma_table_info(t.name) c where t.name like 'durable%' and t.type = 'table' order by 1, c.cid`,
  `select name, tbl_name, sql from sqlite_master where type = 'index' and sql is not null order by name`,
  `select t.name as on_table, c.name as constraint_name from sqlite_master t, (${[
    'durable_job_state',
    'durable_job_queued',
    'durable_job_running',
    'durable_job_finished',
    'durable_job_unique',
    'durable_job_result',
    'durable_job_progress',
    'durable_job_attempt_state',
    'durable_job_attempt_ended',
    'durable_job_attempt_result',
    'durable_job_attempt_progress',
    'durable_executor_state',
    'durable_job_queue_cap',
    'durable_recurring_job_interrupt',
    'durable_recurring_job_missed',
    'durable_recurring_job_limit',
    'durable_recurring_job_overlap',
    'durable_idempotency_claim_state',
    'durable_idempotency_claim_progress',
    'durable_idempotency_claim_result',
    'durable_idempotency_claim_value',
    'durable_inbox_message_state',
    'durable_inbox_message_processing',
    'durable_outbox_message_state',
    'durable_outbox_message_sending',
  ]
    .map(name => `select '${name}_check' as name`)
    .join(' union all ')}) c
   where t.type = 'table' and instr(t.sql, c.name) > 0 order by 1, 2`,
];
