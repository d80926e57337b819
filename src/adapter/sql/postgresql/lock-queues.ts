import type { Tables } from '../../tables.ts';
import { sql, values, type Statement } from '../statement.ts';

/**
 * Locks the rows of capped queues, in one order for all claimers. The count follows in a statement of its own: in the
 * locking one it would be as old as its snapshot (measured: 11 ran under a cap of 3).
 */
export function lockQueues(t: Tables, names: readonly string[]): Statement {
  return sql`
    with capped(name) as (${values(names.map(name => [name]))})
    select q.name, q.paused, q.max_running
    from ${t.queue} q
    where q.name in (select name from capped)
    order by q.name
    for update
  `;
}
