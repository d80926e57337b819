import { defineEntity, p, type EntitySchema, type PrimaryKeyProp } from '@mikro-orm/core';
import { attemptStates, type AttemptState } from '../core/states.ts';
import { check } from './check-constraint.ts';
import { refuseRemoval } from './refuse-removal.ts';
import { CheckedStringType } from './checked-string-type.ts';

/** One execution of a job. For reading; instants are microseconds since the Unix epoch, absent values are null. */
class DurableJobAttempt {
  declare [PrimaryKeyProp]?: ['scopeHash', 'jobId', 'ordinal'];

  /** First part of the job's key. */
  scopeHash!: string;
  /** Second part of the job's key. */
  jobId!: string;
  /** The how manieth start of the job this was, from 1. */
  ordinal!: number;

  /** The fence: UUIDv4 that every write of this attempt carries. */
  token!: string;
  /** The executor that started it. */
  executorId!: string;
  /** How it ended. `failed` also when the job was scheduled again; `snoozed` is no failure. */
  state!: AttemptState;
  /** Percent, 0 to 100. */
  progress!: number;
  /** What the handler said about its progress last. */
  progressMessage!: string | null;
  /** Stable code of why it did not succeed. */
  failureReason!: string | null;
  /** Text of its error, cut at 8 KiB. */
  error!: string | null;
  /** The handler's reference to its result, never interpreted. */
  resultRef!: string | null;
  /** Microseconds since the Unix epoch. */
  startedAt!: number;
  /** Microseconds since the Unix epoch; null exactly while it runs. */
  endedAt!: number | null;
}

export { DurableJobAttempt as JobAttempt };

/** No index beside the key: an attempt is addressed by it, and its token is compared, never searched. */
export const jobAttemptSchema: EntitySchema<DurableJobAttempt> = defineEntity<DurableJobAttempt>({
  class: DurableJobAttempt,
  name: 'DurableJobAttempt',
  tableName: 'durable_job_attempt',
  readonly: true,
  hooks: { beforeDelete: [refuseRemoval] },
  properties: {
    scopeHash: p.string().fieldName('scope_hash').length(64).primary(),
    jobId: p.string().fieldName('job_id').length(128).primary(),
    ordinal: p.integer().fieldName('ordinal').primary(),

    token: p.string().fieldName('token').length(36),
    executorId: p.string().fieldName('executor_id').length(128),
    state: p.type(CheckedStringType).$type<AttemptState>().fieldName('state').length(16),
    progress: p.integer().fieldName('progress'),
    progressMessage: p.text().fieldName('progress_message').nullable(),
    failureReason: p.string().fieldName('failure_reason').length(32).nullable(),
    error: p.text().fieldName('error').nullable(),
    resultRef: p.text().fieldName('result_ref').nullable(),
    startedAt: p.bigint('number').fieldName('started_at'),
    endedAt: p.bigint('number').fieldName('ended_at').nullable(),
  },
  checks: [
    check('durable_job_attempt_state_check', isOneOf => isOneOf('state', attemptStates)),
    check('durable_job_attempt_ended_check', "(ended_at is null) = (state = 'running')"),
    check('durable_job_attempt_result_check', "state <> 'cancelled' or result_ref is null"),
    check('durable_job_attempt_progress_check', 'progress >= 0 and progress <= 100'),
  ],
});
