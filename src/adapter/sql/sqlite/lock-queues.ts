import type { Tables } from '../../tables.ts';
import { sql, values, type Statement } from '../statement.ts';

/** Takes the lock on the file by writing, so that nobody claims between the count and the claim. */
export function lockQueues(t: Tables, names: readonly string[]): Statement {
  return sql`
    with capped(name) as (${values(names.map(name => [name]))})
    update ${t.queue} set updated_at = updated_at
    where name in (select name from capped)
    returning name, paused, max_running
  `;
}
