import type { Tables } from '../../tables.ts';
import { sql, values, type Statement } from '../statement.ts';

export type Dependency = readonly [scopeHash: string, jobId: string, parentId: string];

/** What the jobs that this transaction has just inserted wait for. */
export function insertDependencies(t: Tables, dependencies: readonly Dependency[]): Statement {
  return sql`insert into ${t.dependency} (scope_hash, job_id, parent_id) ${values(dependencies)}`;
}

/** Which of these parents are not stored. */
export function missingParents(t: Tables, dependencies: readonly Dependency[]): Statement {
  return sql`
    with wanted(scope_hash, job_id, parent_id) as (${values(dependencies)})
    select wanted.scope_hash, wanted.job_id, wanted.parent_id
    from wanted
    where not exists (select 1 from ${t.job} p where p.scope_hash = wanted.scope_hash and p.id = wanted.parent_id)
  `;
}
