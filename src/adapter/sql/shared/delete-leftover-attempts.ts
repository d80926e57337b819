import type { Micros } from '../../../core/time.ts';
import type { ClaimRequest } from '../../../core/store.ts';
import type { Tables } from '../../tables.ts';
import type { RowKey } from '../dialect.ts';
import { sql, values, type Statement } from '../statement.ts';

/**
 * Attempts that a job which was deleted by hand left to a later one of its identity: a queued job has none above its count. Sent
 * when one of them stood in the way of a start, so that no submit and no claim pays for the look.
 */
export function deleteLeftoverAttempts(
  t: Tables,
  of: RowKey | Pick<ClaimRequest, 'definitions'>,
  now: Micros,
): Statement {
  const jobs =
    'definitions' in of
      ? sql`(j.name, j.version) in (${values(of.definitions.map(({ name, version }) => [name, version]))}) and j.next_run_at <= ${now}`
      : sql`j.scope_hash = ${of[0]} and j.id = ${of[1]}`;

  return sql`
    delete from ${t.attempt}
    where (scope_hash, job_id, ordinal) in (
      select a.scope_hash, a.job_id, a.ordinal
      from ${t.job} j join ${t.attempt} a on a.scope_hash = j.scope_hash and a.job_id = j.id and a.ordinal > j.attempt_count
      where j.state = 'queued' and ${jobs}
    )
  `;
}
