import { createHash } from 'node:crypto';

const scopeHash = createHash('sha256').update('').digest('hex');
const hour = 3_600_000_000;

/** What a claim of `known` must not take: finished, failed and future jobs, and older due ones that nobody runs. */
export function crowds(scale) {
  return [
    { name: 'known', state: 'succeeded', count: 1_000_000, dueIn: -48 * hour },
    { name: 'known', state: 'failed', count: 200_000, dueIn: -48 * hour },
    { name: 'known', state: 'queued', count: 250_000, dueIn: 48 * hour },
    { name: 'future', state: 'queued', count: 250_000, dueIn: 48 * hour },
    { name: 'unknown', state: 'queued', count: 200_000, dueIn: -24 * hour },
  ].map(crowd => ({ ...crowd, count: Math.ceil(crowd.count * scale) }));
}

/** Jobs that are due now, for the claims that are measured. */
export function dueJobs(count) {
  return { name: 'known', state: 'queued', count, dueIn: -hour };
}

/** So many jobs of one queue, each a microsecond after the one before. */
export async function insertJobs(em, { name, state, count, dueIn }) {
  const isFinished = state !== 'queued';
  const dueAt = Date.now() * 1000 + dueIn;

  await em.execute(
    `insert into durable_job (
       scope_hash, id, scope, name, version, payload, queue, priority, max_attempts, attempt_limit, next_run_at, state,
       attempt_count, failure_count, on_interrupt, progress, revision, created_at, finished_at
     )
     select ?, ? || '-' || n, '', ?, '1', '{"n":1}', 'bench', 0, 10, 10, ?::bigint + n, ?,
            ?, 0, 'hold', 0, 1, ?::bigint + n, case when ? then ?::bigint + n end
     from generate_series(1, ?) as n`,
    [scopeHash, `${name}-${state}-${dueIn}`, name, dueAt, state, Number(isFinished), dueAt, isFinished, dueAt, count],
  );
}
