import type { ExecutorSnapshot } from '../core/queries.ts';
import type { ExecutorRegistration } from '../core/store.ts';
import { dateOf, type Micros } from '../core/time.ts';

/** An executor as it is kept. */
export interface StoredExecutor {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly state: 'active' | 'lapsed' | 'stopped';
  readonly leaseUntil: Micros | null;
  readonly startedAt: Micros;
  /** As JSON, so that it is nobody else's object. */
  readonly metadata: string;
}

export function newExecutor(registration: ExecutorRegistration, startedAt: Micros): StoredExecutor {
  const { id, name, host, leaseUntil, metadata } = registration;
  return { id, name, host, leaseUntil, state: 'active', startedAt, metadata: JSON.stringify(metadata) };
}

export function executorSnapshotOf(executor: StoredExecutor, running: number): ExecutorSnapshot {
  const { id, name, host, state, leaseUntil } = executor;
  const said = JSON.parse(executor.metadata) as Partial<ExecutorSnapshot>;

  return Object.freeze({
    id,
    name,
    host,
    state,
    leaseUntil: leaseUntil === null ? null : dateOf(leaseUntil),
    startedAt: dateOf(executor.startedAt),
    definitions: said.definitions ?? null,
    queues: said.queues ?? null,
    concurrency: said.concurrency ?? null,
    running,
  });
}
