import type { ExecutorRegistration } from '../../../core/store.ts';
import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';

/** An executor without a lease: `lease_until` stays null. */
export function insertExecutor(t: Tables, { id, name, host, metadata }: ExecutorRegistration, now: Micros): Statement {
  return sql`
    insert into ${t.executor} (id, name, host, state, lease_until, started_at, metadata)
    values (${id}, ${name}, ${host}, 'active', null, ${now}, ${JSON.stringify(metadata)})
  `;
}

export function stopExecutor(t: Tables, id: string): Statement {
  return sql`update ${t.executor} set state = 'stopped' where id = ${id}`;
}
