import type { Tables } from '../../tables.ts';
import type { RowKey } from '../dialect.ts';
import { sql, values, type Statement } from '../statement.ts';

/**
 * Tells whoever is ending a job that others wait for it. Sent after the commit of the children and before the look at their
 * parents: an end that is under way is waited for, so that the look sees it; one that begins to write later finds its job changed,
 * and looks after children itself. Takes no lock that outlives it.
 */
export function touchParents(t: Tables, children: readonly RowKey[]): Statement {
  return sql`
    with children(scope_hash, id) as (${values(children)}),
    parents as materialized (
      select p.scope_hash, p.id
      from ${t.job} p
      where p.state = 'running' and (p.scope_hash, p.id) in (
        select d.scope_hash, d.parent_id
        from children c join ${t.dependency} d on d.scope_hash = c.scope_hash and d.job_id = c.id
      )
      order by p.scope_hash, p.id
      for update
    )
    update ${t.job} j
    set revision = j.revision + 1
    from parents p
    where j.scope_hash = p.scope_hash and j.id = p.id
  `;
}
