import type { TestOrm } from '../support/orm.ts';

export type Row = Record<string, string | number | boolean | null>;

const now = 1_790_000_000_000_000;
const hash = 'a'.repeat(64);
const token = '2f1b5e0c-93c5-4a5e-9a43-0a1d2d6f7a11';

export function aJob(row: Row = {}): Row {
  return {
    scope_hash: hash,
    id: 'job-1',
    scope: 'acme',
    name: 'invoice.send',
    version: '1',
    payload: '{}',
    queue: 'default',
    priority: 0,
    max_attempts: 10,
    attempt_limit: 10,
    next_run_at: now,
    state: 'queued',
    attempt_count: 0,
    failure_count: 0,
    on_interrupt: 'hold',
    progress: 0,
    revision: 0,
    created_at: now,
    ...row,
  };
}

export function aRunningJob(row: Row = {}): Row {
  return aJob({ state: 'running', attempt_count: 1, attempt_token: token, executor_id: 'executor-1', ...row });
}

export function aFinishedJob(row: Row = {}): Row {
  return aJob({ state: 'succeeded', attempt_count: 1, finished_at: now, ...row });
}

export function anAttempt(row: Row = {}): Row {
  return {
    scope_hash: hash,
    job_id: 'job-1',
    ordinal: 1,
    token,
    executor_id: 'executor-1',
    state: 'running',
    progress: 0,
    started_at: now,
    ...row,
  };
}

export function anEndedAttempt(row: Row = {}): Row {
  return anAttempt({ state: 'succeeded', ended_at: now, ...row });
}

export function anExecutor(row: Row = {}): Row {
  return { id: 'executor-1', name: 'billing', host: 'alpha', state: 'active', started_at: now, ...row };
}

export function anInboxMessage(row: Row = {}): Row {
  return {
    message_id: 'message-1',
    consumer: 'billing',
    name: 'order.paid',
    version: '1',
    content_hash: hash,
    state: 'processed',
    failure_count: 0,
    received_at: now,
    ...row,
  };
}

export function anOutboxMessage(row: Row = {}): Row {
  return {
    id: 'message-1',
    name: 'payment.booked',
    version: '1',
    document: '{}',
    document_sha256: hash,
    state: 'pending',
    lease_epoch: 0,
    send_count: 0,
    failure_count: 0,
    next_send_at: now,
    created_at: now,
    ...row,
  };
}

export function aDependency(row: Row = {}): Row {
  return { scope_hash: hash, job_id: 'job-1', parent_id: 'parent-1', ...row };
}

export function aQueue(row: Row = {}): Row {
  return { name: 'default', paused: false, updated_at: now, ...row };
}

export function aRecurringJob(row: Row = {}): Row {
  return {
    scope_hash: hash,
    id: 'nightly',
    scope: 'acme',
    cron: '0 3 * * *',
    time_zone: 'Europe/Berlin',
    name: 'books.close',
    version: '1',
    payload: '{}',
    queue: 'default',
    priority: 0,
    max_attempts: 10,
    on_interrupt: 'hold',
    missed: 'one',
    overlap: 'queue',
    next_fire_at: now,
    paused: false,
    created_at: now,
    updated_at: now,
    ...row,
  };
}

export function anIdempotencyClaim(row: Row = {}): Row {
  return {
    key_hash: hash,
    scope: 'acme',
    key: 'charge:order-1',
    state: 'in_progress',
    owner_job_id: 'job-1',
    owner_token: token,
    claim_expires_at: now,
    ...row,
  };
}

export function aCompletedClaim(row: Row = {}): Row {
  return anIdempotencyClaim({ state: 'completed', claim_expires_at: null, result_expires_at: now, ...row });
}

export async function insert(orm: TestOrm, table: string, row: Row): Promise<void> {
  const columns = Object.keys(row);

  await orm.em
    .fork()
    .execute(
      `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
      Object.values(row),
    );
}
