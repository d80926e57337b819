import { describeKey } from '../core/errors.ts';
import { isFinished } from '../core/states.ts';
import type { StoredJob } from './stored-job.ts';

const rules: Readonly<Record<string, (job: StoredJob) => boolean>> = {
  'a queued job has no token, no cancel mark and starts left': job =>
    job.state !== 'queued' ||
    (job.token === null && job.cancelRequestedAt === null && job.attemptCount < job.attemptLimit),
  'a running job has a token and an executor': job =>
    job.state !== 'running' || (job.token !== null && job.executorId !== null),
  'a job has an end exactly if it has finished': job => isFinished(job.state) === (job.finishedAt !== null),
  'a finished job holds no unique key': job => job.finishedAt === null || job.heldKey === null,
  'a cancelled job has no result': job => job.state !== 'cancelled' || job.resultRef === null,
  'progress is from 0 to 100': job => job.progress >= 0 && job.progress <= 100,
};

/** What a database's checks are there for: no write leaves a job that can't be. @throws Error naming the rule */
export function checkJob(job: StoredJob): void {
  const broken = Object.entries(rules).find(([, holds]) => !holds(job));
  if (broken !== undefined) {
    throw new Error(`Check failed for job ${describeKey(job)}: ${broken[0]}.`);
  }
}
