import type { RunningAttempt } from '../core/attempt.ts';
import type { Clock } from '../core/clock.ts';
import type { ExecutorRegistration, RenewAnswer } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import { toRunningAttempt } from './job-row.ts';
import type { Session } from './session.ts';
import {
  anyLapsed,
  deleteExecutors,
  insertExecutor,
  lapseExecutors,
  renewLease,
  stopExecutor,
  stopUnleasedExecutors,
} from './sql/shared/executors.ts';
import { orphanedJobs, runningJobs } from './sql/shared/running-jobs.ts';

/** More attempts than any executor runs. */
const maxHeld = 100_000;

/** The executors and their leases. */
export class ExecutorRegistry {
  readonly #session: Session;
  readonly #clock: Clock;

  constructor(session: Session, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
  }

  async register(executor: ExecutorRegistration): Promise<void> {
    await this.#session.write(insertExecutor(this.#session.tables, executor, this.#clock.now()));
  }

  async retire(executorId: string): Promise<void> {
    await this.#session.write(stopExecutor(this.#session.tables, executorId));
  }

  async retireUnleased(alive: readonly string[]): Promise<void> {
    await this.#session.write(stopUnleasedExecutors(this.#session.tables, alive));
  }

  /** @returns how many were deleted */
  async prune(before: Micros, limit: number): Promise<number> {
    return (await this.#session.write(deleteExecutors(this.#session.tables, before, limit))).length;
  }

  async renew(executorId: string, leaseUntil: Micros): Promise<RenewAnswer> {
    const { read, tables, write } = this.#session;
    const [renewed] = await write(renewLease(tables, executorId, leaseUntil));
    if (renewed === undefined) {
      return { answer: 'lapsed' };
    }

    const held = !renewed.runs ? [] : await read(runningJobs(tables, { executorId, limit: maxHeld }));
    return {
      answer: 'renewed',
      attempts: held.map(row => ({
        token: row.attempt_token as string,
        status: row.cancel_requested_at === null ? 'active' : 'cancel_requested',
      })),
    };
  }

  /** Declares dead whose lease is over, each for one caller, and finds what runs under executors that are dead or stopped. */
  async lapse(limit: number): Promise<{ readonly lapsed: string[]; readonly orphans: RunningAttempt[] }> {
    const { read, tables, write } = this.#session;
    const now = this.#clock.now();
    if ((await read(anyLapsed(tables, now))).length === 0) {
      return { lapsed: [], orphans: [] };
    }

    const lapsed = await write(lapseExecutors(tables, now));
    const orphans = await read(orphanedJobs(tables, limit));
    return { lapsed: lapsed.map(row => row.id as string), orphans: orphans.map(toRunningAttempt) };
  }
}
