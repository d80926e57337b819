import { defineEntity, p, type EntitySchema, type PrimaryKeyProp } from '@mikro-orm/core';
import { finishedStates, jobStates, type JobState } from '../core/states.ts';
import { check } from './check-constraint.ts';
import { createIndex, createUniqueIndex } from './create-index.ts';
import { refuseRemoval } from './refuse-removal.ts';
import { CheckedStringType } from './checked-string-type.ts';

/**
 * A job, as it is stored. For reading: `em.find(Job, …)` works, what a flush finds changed here is not written.
 *
 * Properties are the raw column values. Every instant (`…At`, `initialNotBefore`, `retryUntil`) is a number of
 * microseconds since the Unix epoch, every absent value is null.
 */
class DurableJob {
  declare [PrimaryKeyProp]?: ['scopeHash', 'id'];

  /** First part of the key: lower-case hex SHA-256 of the scope's UTF-8. */
  scopeHash!: string;
  /** Second part of the key: given by the submitter, or a UUIDv7 made with the submission. */
  id!: string;
  /** The scope itself, to be read by people and handlers; the hash identifies. */
  scope!: string;

  /** Name of the definition that runs the job. */
  name!: string;
  /** Version of that definition. */
  version!: string;
  /** The payload's JSON text, byte for byte as submitted. Part of the job's identity. */
  payload!: string;
  /** JSON text that an operator put in the payload's place; executed instead of it, never compared. */
  payloadOverride!: string | null;

  /** The queue that the job waits in. */
  queue!: string;
  /** Higher starts first. */
  priority!: number;
  /** Starts allowed, as submitted. Part of the job's identity. */
  maxAttempts!: number;
  /** Starts allowed now, counted from the first one; snoozing and resurrecting raise it. */
  attemptLimit!: number;
  /** The not-before as submitted, in microseconds since the Unix epoch. Part of the job's identity. */
  initialNotBefore!: number | null;
  /** When it may start (next), in microseconds since the Unix epoch. */
  nextRunAt!: number;

  /** Where the job is in its life. Scheduled and retrying jobs are `queued`, with a later `nextRunAt`. */
  state!: JobState;
  /** Starts so far; also the ordinal of the latest attempt. */
  attemptCount!: number;
  /** Failures recorded since the submission or the last resurrection. */
  failureCount!: number;
  /** The fence: UUIDv4 of the attempt that may write, only while running. */
  attemptToken!: string | null;
  /** The executor that holds the running attempt. */
  executorId!: string | null;
  /** Whether a start that was interrupted may be run again unasked (`requeue`) or not (`hold`). */
  onInterrupt!: 'hold' | 'requeue';
  /** Milliseconds that one attempt may take, when the submission overrides its definition. */
  timeoutMs!: number | null;
  /** JSON text of the retry policy, when the submission overrides its definition. */
  retryPolicy!: string | null;
  /** No retry is scheduled later than this, in microseconds since the Unix epoch. */
  retryUntil!: number | null;

  /** Percent, 0 to 100, of the latest attempt. */
  progress!: number;
  /** What the latest attempt said about its progress. */
  progressMessage!: string | null;
  /** When cancelling was asked for, in microseconds since the Unix epoch; the mark that the completion looks at. */
  cancelRequestedAt!: number | null;
  /** Why it was asked for. */
  cancelReason!: string | null;
  /** The handler's reference to its result, never interpreted. Null unless it succeeded. */
  resultRef!: string | null;
  /** Stable code of why the job, or its latest attempt, did not succeed. */
  failureReason!: string | null;
  /** Text of the last error, cut at 8 KiB. */
  lastError!: string | null;

  /** Key that no two active jobs of a scope share. */
  uniqueKey!: string | null;
  /** Hash of scope and unique key, unique in the table; null as soon as the job has finished. */
  uniqueHash!: string | null;
  /** The recurring job that fired this one; the occurrence is `initialNotBefore`. */
  recurringId!: string | null;
  /** W3C `traceparent` at the submission. */
  traceParent!: string | null;
  /** W3C `tracestate` at the submission. */
  traceState!: string | null;
  /** JSON text of the submitter's labels. */
  metadata!: string | null;
  /** Who did the last operator action. */
  changedBy!: string | null;
  /** One more with every write. */
  revision!: number;
  /** Microseconds since the Unix epoch, strictly increasing within the process that submitted. */
  createdAt!: number;
  /** Microseconds since the Unix epoch; set exactly while the job is finished. */
  finishedAt!: number | null;
  /** The queue as submitted, if an operator has moved the job to another since; part of the job's identity. */
  initialQueue!: string | null;
}

export { DurableJob as Job };

export const jobSchema: EntitySchema<DurableJob> = defineEntity<DurableJob>({
  class: DurableJob,
  name: 'DurableJob',
  tableName: 'durable_job',
  readonly: true,
  hooks: { beforeDelete: [refuseRemoval] },
  properties: {
    scopeHash: p.string().fieldName('scope_hash').length(64).primary(),
    id: p.string().fieldName('id').length(128).primary(),
    scope: p.text().fieldName('scope'),

    name: p.string().fieldName('name').length(255),
    version: p.string().fieldName('version').length(64),
    payload: p.text().fieldName('payload'),
    payloadOverride: p.text().fieldName('payload_override').nullable(),

    queue: p.string().fieldName('queue').length(255),
    priority: p.integer().fieldName('priority'),
    maxAttempts: p.integer().fieldName('max_attempts'),
    attemptLimit: p.integer().fieldName('attempt_limit'),
    initialNotBefore: p.bigint('number').fieldName('initial_not_before').nullable(),
    nextRunAt: p.bigint('number').fieldName('next_run_at'),

    state: p.type(CheckedStringType).$type<JobState>().fieldName('state').length(16),
    attemptCount: p.integer().fieldName('attempt_count'),
    failureCount: p.integer().fieldName('failure_count'),
    attemptToken: p.string().fieldName('attempt_token').length(36).nullable(),
    executorId: p.string().fieldName('executor_id').length(128).nullable(),
    onInterrupt: p.string().fieldName('on_interrupt').length(16),
    timeoutMs: p.integer().fieldName('timeout_ms').nullable(),
    retryPolicy: p.text().fieldName('retry_policy').nullable(),
    retryUntil: p.bigint('number').fieldName('retry_until').nullable(),

    progress: p.integer().fieldName('progress'),
    progressMessage: p.text().fieldName('progress_message').nullable(),
    cancelRequestedAt: p.bigint('number').fieldName('cancel_requested_at').nullable(),
    cancelReason: p.text().fieldName('cancel_reason').nullable(),
    resultRef: p.text().fieldName('result_ref').nullable(),
    failureReason: p.string().fieldName('failure_reason').length(32).nullable(),
    lastError: p.text().fieldName('last_error').nullable(),

    uniqueKey: p.string().fieldName('unique_key').length(255).nullable(),
    uniqueHash: p.string().fieldName('unique_hash').length(64).nullable(),
    recurringId: p.string().fieldName('recurring_id').length(255).nullable(),
    traceParent: p.string().fieldName('trace_parent').length(128).nullable(),
    traceState: p.string().fieldName('trace_state').length(512).nullable(),
    metadata: p.text().fieldName('metadata').nullable(),
    changedBy: p.string().fieldName('changed_by').length(255).nullable(),
    revision: p.integer().fieldName('revision'),
    createdAt: p.bigint('number').fieldName('created_at'),
    finishedAt: p.bigint('number').fieldName('finished_at').nullable(),
    initialQueue: p.string().fieldName('initial_queue').length(255).nullable(),
  },
  checks: [
    check('durable_job_state_check', isOneOf => isOneOf('state', jobStates)),
    check(
      'durable_job_queued_check',
      "state <> 'queued' or (attempt_token is null and cancel_requested_at is null and attempt_count < attempt_limit)",
    ),
    check('durable_job_running_check', "state <> 'running' or (attempt_token is not null and executor_id is not null)"),
    check('durable_job_finished_check', isOneOf => `(finished_at is not null) = (${isOneOf('state', finishedStates)})`),
    check('durable_job_unique_check', 'finished_at is null or unique_hash is null'),
    check('durable_job_result_check', "state <> 'cancelled' or result_ref is null"),
    check('durable_job_progress_check', 'progress >= 0 and progress <= 100'),
  ],
  indexes: [
    // claim: the lanes of an executor, and in a lane what is due
    createIndex(
      'durable_job_claim',
      `(queue, name, version, priority desc, next_run_at, created_at) where state = 'queued'`,
    ),
    // recover, renew and stop: what an executor holds
    createIndex('durable_job_running_executor', `(executor_id) where state = 'running'`),
    // claim below a cap: what a queue runs
    createIndex('durable_job_running_queue', `(queue) where state = 'running'`),
    // resolve: everything that waits for parents
    createIndex('durable_job_awaiting', `(scope_hash, id) where state = 'awaiting'`),
    // recurring jobs: the newest one that each made
    createIndex('durable_job_recurring', '(scope_hash, recurring_id, created_at desc) where recurring_id is not null'),
    // submit: who holds a unique key
    createUniqueIndex('durable_job_unique', '(unique_hash) where unique_hash is not null'),
    // prune and dead letters: what ended how, and when
    createIndex('durable_job_finished', '(state, finished_at) where finished_at is not null'),
    // list: the newest first. The key would make it the biggest index of all, so pages sort their ties
    createIndex('durable_job_listing', '(created_at desc)'),
  ],
});
