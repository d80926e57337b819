import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';

/** A parent that has failed, was cancelled or is gone, if there is one: the job can't be retried for it. */
export function deadParents(t: Tables, scopeHash: string, id: string): Statement {
  return sql`
    select d.parent_id
    from ${t.dependency} d left join ${t.job} p on p.scope_hash = d.scope_hash and p.id = d.parent_id
    where d.scope_hash = ${scopeHash} and d.job_id = ${id} and coalesce(p.state, 'cancelled') in ('failed', 'cancelled')
    limit 1
  `;
}

/** The state that a job comes back to: it waits while a parent hasn't succeeded. */
export function stateByParents(t: Tables, scopeHash: string, id: string): Statement {
  return sql`
    case when exists (
      select 1
      from ${t.dependency} d left join ${t.job} p on p.scope_hash = d.scope_hash and p.id = d.parent_id
      where d.scope_hash = ${scopeHash} and d.job_id = ${id} and coalesce(p.state, '') <> 'succeeded'
    ) then 'awaiting' else 'queued' end
  `;
}
