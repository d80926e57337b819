export { Jobs, type ExecutorOptions, type JobHandler } from './jobs.ts';
export type { JobsOptions } from './jobs-options.ts';

export {
  defineJob,
  type AnyDefinition,
  type DefinitionOptions,
  type JobDefinition,
  type Payload,
  type PayloadInput,
} from './core/definition.ts';
export type { Duration } from './core/duration.ts';
export type { Identity, OnInterrupt, Submission, SubmissionOptions } from './core/submission.ts';
export type { ResolvedRetryPolicy, RetryPolicy } from './core/retry-policy.ts';
export type { StandardSchema } from './core/standard-schema.ts';
export type { JobKey } from './core/job-key.ts';
export {
  activeStates,
  attemptStates,
  finishedStates,
  jobStates,
  type AttemptState,
  type FinishedState,
  type JobState,
} from './core/states.ts';
export { failureReasons, type FailureReason } from './core/failure-reason.ts';
export type { AttemptSnapshot, JobSnapshot, Matched, StageResult } from './core/snapshot.ts';
export type { Control, ResurrectOptions } from './core/control.ts';
export type { DeadLetterFilter, DeadLetters, ScopedDeadLetterFilter } from './core/dead-letters.ts';
export type { Retention } from './core/retention.ts';
export type { CancelAnswer, ResurrectAnswer, RetryAnswer, RunNowAnswer } from './core/store.ts';
export { Executor } from './executor/executor.ts';
export type { FromJson, OnceOptions } from './core/once.ts';
export type { HandlerResult, RegisteredHandler, RunningJob } from './core/handler.ts';
export { AttemptAbortedError, type AbortWhy } from './core/abort-reason.ts';
export {
  KeyInProgressError,
  PermanentError,
  RetryAfterError,
  SnoozeError,
  PayloadInvalidError,
  ResultInvalidError,
} from './core/handler-errors.ts';
export { RepairMismatchError, UpdateRefusedError } from './core/control-errors.ts';
export {
  AmbientTransactionError,
  AttemptMissingError,
  AttemptSettledError,
  ConnectionTimeoutError,
  EntitiesNotRegisteredError,
  EntityManagerMismatchError,
  InsertRefusedError,
  InvalidOptionError,
  InvalidSubmissionError,
  JobIdentityConflictError,
  JobsError,
  ParentNotFoundError,
  SchemaMissingError,
  StaleAttemptError,
  TransactionControlError,
  TransactionEndedError,
  TransactionRequiredError,
  UnsupportedDriverError,
  type IdentityDifference,
} from './core/errors.ts';
export {
  ConcurrentUnitError,
  MessageLostError,
  MessageRefusedError,
  UnitControlError,
  UnitEndedError,
  UnitRolledBackError,
} from './unit-of-work/errors.ts';
export type { ExecuteOptions, UnitOfWork } from './unit-of-work/unit-of-work.ts';
export type { Consumed } from './unit-of-work/consumed.ts';
export type { UnitOfWorkOptions } from './unit-of-work/options.ts';
export type { Outbox, Unit } from './unit-of-work/unit.ts';
export {
  InvalidMessageError,
  MessageContractError,
  type ContractDifference,
  type Message,
  type OutboxOptions,
} from './core/message.ts';
export type { Clock } from './core/clock.ts';
export type { Logger, LogFields } from './core/logger.ts';
export type {
  EventAttempt,
  EventFields,
  EventJob,
  EventLoop,
  EventName,
  JobsEvent,
  JobsEvents,
  JobsListener,
} from './core/events.ts';
export type { ExecutorHealth, Health, HealthCheck, HealthOptions, HealthStatus, QueueHealth } from './core/health.ts';
export type { TraceContext } from './core/trace-context.ts';
export type { TraceHook } from './core/tracing.ts';
export { MiddlewareError, type JobMiddleware, type MiddlewareJob } from './core/middleware.ts';

// The store contract: for an executor of your own, or a store of your own.
export type {
  AttemptStatus,
  ClaimAnswer,
  ClaimRequest,
  ExecutorRegistration,
  JobStore,
  ProgressAnswer,
  ProgressReport,
  PruneAnswer,
  PrunePolicy,
  RecoverAnswer,
  RecoverLapsedAnswer,
  Recovered,
  Recovery,
  ReleaseAnswer,
  RenewAnswer,
  ResolveAnswer,
  Resurrection,
  RunningFilter,
  SettleAnswer,
  StoreCapabilities,
  StoreHint,
} from './core/store.ts';
export type { Attempt, AttemptRef, Progress, RunningAttempt, Settlement, SettlementOutcome } from './core/attempt.ts';
export type { DueLane } from './core/due-lane.ts';
export type {
  Backlog,
  ExecutorSnapshot,
  JobCount,
  JobFilter,
  JobQueries,
  ListedJob,
  ListPosition,
  ReasonCount,
} from './core/queries.ts';
export type {
  Admin,
  BulkAnswer,
  BulkOptions,
  JobCounts,
  JobPage,
  PageOptions,
  QueueLag,
  UnknownJobs,
} from './core/admin.ts';
export { WaitTimeoutError } from './core/wait.ts';
export type { ClaimKeyAnswer, IdempotencyStore } from './core/idempotency.ts';
export type { QueueSettings, QueueStore } from './core/queues.ts';
export type { ActorOption, QueueControl } from './core/queue-control.ts';
export type { Missed } from './core/schedule.ts';
export type {
  Firing,
  JobTemplate,
  Overlap,
  RecurringJob as StoredRecurringJob,
  RecurringStore,
  RecurringUpsert,
  Resumption,
} from './core/recurring.ts';
export type {
  OccurrencesOption,
  RecurringControl,
  RecurringOptions,
  RecurringSnapshot,
} from './core/recurring-control.ts';
// Decisions that every store takes alike: for a store of your own.
export { CreationClock } from './core/clock.ts';
export { occurrenceOf } from './core/occurrence-of.ts';
export { refuseCircle } from './core/refuse-circle.ts';
export { refuseForeignRepair } from './core/refuse-foreign-repair.ts';
export { differencesBetween, type RequestFields } from './core/same-request.ts';
export type { Micros } from './core/time.ts';

export {
  IdempotencyClaim,
  InboxMessage,
  Job,
  JobAttempt,
  JobDependency,
  JobExecutor,
  JobQueue,
  OutboxMessage,
  ReadOnlyEntityError,
  RecurringJob,
  jobEntities,
} from './entities/index.ts';
