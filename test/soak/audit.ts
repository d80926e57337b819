import { Job, type JobState } from '../../src/index.ts';
import type { TestOrm } from '../support/orm.ts';
import { jobIdsOf } from './shop.ts';

export interface Audit {
  readonly orders: number;
  readonly states: Readonly<Partial<Record<JobState, number>>>;
  /** What must never be; empty is good. */
  readonly problems: readonly string[];
}

/** How many jobs have yet to end; ticks that come again don't count. */
export async function unfinished(orm: TestOrm): Promise<number> {
  return orm.em.fork().count(Job, { state: { $in: ['awaiting', 'queued', 'running'] } });
}

/** Every order has its jobs, every job ended, and each did its booking exactly once or, if it was cancelled, never. */
export async function audit(orm: TestOrm): Promise<Audit> {
  const em = orm.em.fork();
  const jobs = new Map((await em.findAll(Job)).map(({ id, name, state }) => [id, { name, state }]));
  const orders = await em.execute<Array<{ id: string }>>('select id from placed_order');
  const bookings = await em.execute<Array<{ job_id: string; times: number | string }>>(
    'select job_id, count(*) as times from booking group by job_id',
  );
  const booked = new Map(bookings.map(row => [row.job_id, Number(row.times)]));
  const problems: string[] = [];
  const ordered = new Set<string>();

  for (const { id } of orders) {
    const ids = jobIdsOf(id);
    Object.values(ids).forEach(jobId => ordered.add(jobId));
    const [first, second, third] = [ids.charge, ids.receipt, ids.flaky].map(jobId => jobs.get(jobId)?.state);
    if (first !== 'succeeded' && first !== 'cancelled') problems.push(`${ids.charge} is ${first}`);
    if (second !== first) problems.push(`${ids.receipt} is ${second}, its parent ${first}`);
    if (third !== 'succeeded') problems.push(`${ids.flaky} is ${third}`);
  }
  for (const [id, { name, state }] of jobs) {
    const expected = state === 'succeeded' && name !== 'receipt' ? 1 : 0;
    const times = booked.get(id) ?? 0;
    if (times !== expected) problems.push(`${id} is ${state} and booked ${times} times`);
    if (name !== 'tick' && !ordered.has(id)) problems.push(`${id} belongs to no order`);
  }
  for (const id of booked.keys()) if (!jobs.has(id)) problems.push(`${id} booked and is not there`);

  return { orders: orders.length, states: countBy([...jobs.values()].map(({ state }) => state)), problems };
}

function countBy<T extends string>(values: readonly T[]): Partial<Record<T, number>> {
  const counts: Partial<Record<T, number>> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;

  return counts;
}
