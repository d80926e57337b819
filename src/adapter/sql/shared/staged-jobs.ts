import { snapshotColumns } from '../../job-row.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';

/** All jobs, or those of one definition, with what they run; for tests, so no index serves it. */
export function stagedJobs(
  t: Tables,
  definition: { readonly name: string; readonly version: string } | null,
): Statement {
  const ofDefinition =
    definition === null ? sql`` : sql`where name = ${definition.name} and version = ${definition.version}`;

  return sql`
    select ${snapshotColumns()}, coalesce(payload_override, payload) as payload
    from ${t.job}
    ${ofDefinition}
    order by created_at, scope_hash, id
  `;
}
