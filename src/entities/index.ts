import type { EntitySchema } from '@mikro-orm/core';
import { inboxMessageSchema } from './inbox-message.entity.ts';
import { jobAttemptSchema } from './job-attempt.entity.ts';
import { jobExecutorSchema } from './job-executor.entity.ts';
import { jobSchema } from './job.entity.ts';
import { outboxMessageSchema } from './outbox-message.entity.ts';

export { InboxMessage, inboxMessageSchema, inboxStates, type InboxState } from './inbox-message.entity.ts';
export { JobAttempt, jobAttemptSchema } from './job-attempt.entity.ts';
export { JobExecutor, executorStates, jobExecutorSchema, type ExecutorState } from './job-executor.entity.ts';
export { Job, jobSchema } from './job.entity.ts';
export { OutboxMessage, outboxMessageSchema, outboxStates, type OutboxState } from './outbox-message.entity.ts';
export { ReadOnlyEntityError } from './refuse-removal.ts';

/** The library's tables. Belongs into the `entities` of the host's MikroORM: `entities: [Order, …, ...jobEntities]`. */
export const jobEntities: EntitySchema[] = [
  jobSchema,
  jobAttemptSchema,
  jobExecutorSchema,
  inboxMessageSchema,
  outboxMessageSchema,
];
