import type { Tables } from '../../tables.ts';
import type { Candidates } from '../dialect.ts';
import { sql, values, type Statement } from '../statement.ts';

/** The jobs that a resolve looks at; served by `durable_job_dependency_resolve` and `durable_job_awaiting`. */
export function resolveCandidates(t: Tables, { of, keys }: Candidates): Statement {
  switch (of) {
    case 'keys':
      return values(keys);
    case 'children':
      return sql`
        select d.scope_hash, d.job_id
        from (${values(keys)}) as parents join ${t.dependency} d on d.scope_hash = parents.column1 and d.parent_id = parents.column2
      `;
    case 'all':
      return sql`select j.scope_hash, j.id from ${t.job} j where j.state = 'awaiting'`;
  }
}

/** What the parents of the candidates say: is one gone or ended in vain, have all succeeded? */
export function resolveVerdicts(t: Tables): Statement {
  return sql`
    select j.scope_hash, j.id,
           max(case when coalesce(p.state, 'cancelled') in ('failed', 'cancelled') then 1 else 0 end) as is_dead,
           min(case when p.state = 'succeeded' then 1 else 0 end) as is_ready
    from candidates c
    join ${t.job} j on j.scope_hash = c.scope_hash and j.id = c.id and j.state = 'awaiting'
    join ${t.dependency} d on d.scope_hash = j.scope_hash and d.job_id = j.id
    left join ${t.job} p on p.scope_hash = d.scope_hash and p.id = d.parent_id
    group by j.scope_hash, j.id
  `;
}
