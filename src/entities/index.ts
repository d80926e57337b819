import type { EntitySchema } from '@mikro-orm/core';
import { idempotencyClaimSchema } from './idempotency-claim.entity.ts';
import { inboxMessageSchema } from './inbox-message.entity.ts';
import { jobAttemptSchema } from './job-attempt.entity.ts';
import { jobDependencySchema } from './job-dependency.entity.ts';
import { jobExecutorSchema } from './job-executor.entity.ts';
import { jobQueueSchema } from './job-queue.entity.ts';
import { jobSchema } from './job.entity.ts';
import { outboxMessageSchema } from './outbox-message.entity.ts';
import { recurringJobSchema } from './recurring-job.entity.ts';

export {
  IdempotencyClaim,
  idempotencyClaimSchema,
  idempotencyStates,
  type IdempotencyState,
} from './idempotency-claim.entity.ts';
export { InboxMessage, inboxMessageSchema, inboxStates, type InboxState } from './inbox-message.entity.ts';
export { JobAttempt, jobAttemptSchema } from './job-attempt.entity.ts';
export { JobDependency, jobDependencySchema } from './job-dependency.entity.ts';
export { JobExecutor, executorStates, jobExecutorSchema, type ExecutorState } from './job-executor.entity.ts';
export { JobQueue, jobQueueSchema } from './job-queue.entity.ts';
export { Job, jobSchema } from './job.entity.ts';
export { OutboxMessage, outboxMessageSchema, outboxStates, type OutboxState } from './outbox-message.entity.ts';
export {
  RecurringJob,
  missedPolicies,
  overlapPolicies,
  recurringJobSchema,
  type MissedPolicy,
  type OverlapPolicy,
} from './recurring-job.entity.ts';
export { ReadOnlyEntityError } from './refuse-removal.ts';

/** The library's tables. Belongs into the `entities` of the host's MikroORM: `entities: [Order, …, ...jobEntities]`. */
export const jobEntities: EntitySchema[] = [
  jobSchema,
  jobAttemptSchema,
  jobDependencySchema,
  jobExecutorSchema,
  jobQueueSchema,
  recurringJobSchema,
  idempotencyClaimSchema,
  inboxMessageSchema,
  outboxMessageSchema,
];
