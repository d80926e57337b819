import { beforeAll } from '@jest/globals';
import { IsolationLevel } from '@mikro-orm/core';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HintChannel } from '../../../src/adapter/hint-channel.ts';
import { preparedStatementsOf } from '../../../src/adapter/prepared-statements-of.ts';
import { MikroOrmJobStore } from '../../../src/adapter/mikro-orm-job-store.ts';
import { sqlDialectOf } from '../../../src/adapter/sql-dialect-of.ts';
import { TransactionSession } from '../../../src/adapter/transaction-session.ts';
import { CreationClock } from '../../../src/core/clock.ts';
import { openJobs, useJobs, whenMade, type TestJobs } from '../../support/builders.ts';
import type { Driver, TestOrm } from '../../support/orm.ts';

/** `Jobs` of several processes on one database, each with connections of its own; tests find it empty. */
export function useSeveralJobs(driver: Driver, count: number): TestJobs[] {
  const all = [useJobs(driver, { file: true })];

  for (let index = 1; index < count; index++) {
    let opened: TestJobs;
    beforeAll(async () => void (opened = await openJobs(all[0]!)));
    all.push(whenMade(driver, () => opened));
  }

  return all;
}

/**
 * Two calls at once, the second one some turns of the event loop later; which one is first, and how many turns, changes from
 * round to round.
 */
export async function race<A, B>(round: number, a: () => Promise<A>, b: () => Promise<B>): Promise<[A, B]> {
  const turns = Math.floor(round / 2) % 5;
  const late = async <T>(call: () => Promise<T>) => {
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    return call();
  };

  if (round % 2 === 0) return Promise.all([a(), late(b)]);
  const [second, first] = await Promise.all([b(), late(a)]);
  return [first, second];
}

/** Calls for the items of a list, some at a time. */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  call: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await call(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));

  return results;
}

/** A transaction that stays open until the test ends it, with the store inside it. */
export async function openTransaction({ driver, orm, clock }: TestJobs) {
  const em = orm.em.fork();
  await em.begin(driver === 'postgresql' ? { isolationLevel: IsolationLevel.READ_COMMITTED } : {});
  const store = new MikroOrmJobStore({
    session: new TransactionSession(em, preparedStatementsOf(em, sqlDialectOf(em), clock)),
    dialect: sqlDialectOf(em),
    clock,
    creationClock: new CreationClock(clock),
    hints: new HintChannel(),
    belowCaps: new Set<string>(),
  });

  return { em, store, commit: () => em.commit(), rollback: () => em.rollback() };
}

/** Resolves once so many statements on this PostgreSQL database wait for a lock. */
export async function untilBlocked(orm: TestOrm, count = 1): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await orm.em.fork().execute(waiting)).length < count) await nextTurn();
}
