import type { Micros } from '../../../core/time.ts';
import type { Tables } from '../../tables.ts';
import { sql, type Statement } from '../statement.ts';

/** An attempt, by what its fence compares, and the key that it asks for. */
export interface KeyRequest {
  readonly keyHash: string;
  readonly key: string;
  readonly scopeHash: string;
  readonly id: string;
  readonly token: string;
}

/**
 * Gives a free or expired key to an attempt that owns its job. What `endedToken` or the attempt itself holds counts as free.
 * Whether an owner has ended is not asked in here: PostgreSQL sees the newest claim beside jobs as they were when the statement
 * began, so an attempt that started and claimed meanwhile would seem to have ended.
 */
export function claimKey(
  t: Tables,
  { keyHash, key, scopeHash, id, token }: KeyRequest,
  endedToken: string | null,
  expiresAt: Micros,
  now: Micros,
): Statement {
  return sql`
    insert into ${t.idempotency} as c (key_hash, scope, key, state, owner_job_id, owner_token, claim_expires_at)
    select ${keyHash}, j.scope, ${key}, 'in_progress', j.id, j.attempt_token, ${expiresAt}
    from ${t.job} j
    where j.scope_hash = ${scopeHash} and j.id = ${id} and j.state = 'running' and j.attempt_token = ${token}
    on conflict (key_hash) do update
    set state = excluded.state, owner_job_id = excluded.owner_job_id, owner_token = excluded.owner_token,
        claim_expires_at = excluded.claim_expires_at, result_expires_at = null, value = null
    where c.result_expires_at <= ${now} or c.claim_expires_at <= ${now}
      or (c.state = 'in_progress' and c.owner_token in (excluded.owner_token, ${endedToken ?? token}))
    returning key_hash
  `;
}

/** Who holds a key, and whether that attempt still owns its job. No row: the asking attempt doesn't own its own. */
export function readKey(t: Tables, { keyHash, scopeHash, id, token }: KeyRequest): Statement {
  return sql`
    select c.state, c.owner_token, c.claim_expires_at, c.result_expires_at, c.value,
           exists (
             select 1 from ${t.job} o
             where o.scope_hash = ${scopeHash} and o.id = c.owner_job_id and o.state = 'running' and o.attempt_token = c.owner_token
           ) as is_held
    from ${t.job} j
    left join ${t.idempotency} c on c.key_hash = ${keyHash}
    where j.scope_hash = ${scopeHash} and j.id = ${id} and j.state = 'running' and j.attempt_token = ${token}
  `;
}

export function completeKey(
  t: Tables,
  { keyHash, scopeHash, id, token }: KeyRequest,
  value: string | null,
  expiresAt: Micros,
): Statement {
  return sql`
    update ${t.idempotency}
    set state = 'completed', claim_expires_at = null, result_expires_at = ${expiresAt}, value = ${value}
    where key_hash = ${keyHash} and owner_token = ${token} and state = 'in_progress'
      and exists (
        select 1 from ${t.job} j
        where j.scope_hash = ${scopeHash} and j.id = ${id} and j.state = 'running' and j.attempt_token = ${token}
      )
    returning key_hash
  `;
}

export function releaseKey(t: Tables, { keyHash, token }: KeyRequest): Statement {
  return sql`
    delete from ${t.idempotency} where key_hash = ${keyHash} and owner_token = ${token} and state = 'in_progress'
  `;
}

/**
 * The condition stands twice: a claim may be taken between being found and being deleted. Begins with a `with`: MikroORM 6 answers
 * no rows of SQLite for a statement that begins with `delete`.
 */
export function pruneKeys(t: Tables, limit: number, now: Micros): Statement {
  return sql`
    with results as (
      select key_hash from ${t.idempotency} where result_expires_at <= ${now} order by result_expires_at limit ${limit}
    ),
    claims as (
      select key_hash from ${t.idempotency} where claim_expires_at <= ${now} order by claim_expires_at limit ${limit}
    ),
    expired as (
      select key_hash from (select key_hash from results union all select key_hash from claims) as either limit ${limit}
    )
    delete from ${t.idempotency}
    where (result_expires_at <= ${now} or claim_expires_at <= ${now}) and key_hash in (select key_hash from expired)
    returning key_hash
  `;
}
