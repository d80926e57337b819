import type { Attempt, AttemptRef, Progress, RunningAttempt, Settlement } from '../core/attempt.ts';
import { defineJob, type AnyDefinition } from '../core/definition.ts';
import type { JobKey } from '../core/job-key.ts';
import type { Firing, RecurringUpsert } from '../core/recurring.ts';
import type { ClaimRequest, ExecutorRegistration, ProgressReport } from '../core/store.ts';
import type { OnInterrupt, Submission, SubmissionOptions } from '../core/submission.ts';
import type { Micros } from '../core/time.ts';

// Defaults for what facts hand to a store, so that a fact states only what matters to it.

/** The definition of most jobs in facts. */
export const sendMail = defineJob<unknown>()({ name: 'mail.send' });
/** Another one, of version 2. */
export const buildReport = defineJob<unknown>()({ name: 'report.build', version: '2' });

/** The executor that every fact finds registered; it has no lease. */
export const theExecutor = 'executor-1';

/** What a fact may say of a submission. */
export type SubmissionGiven = SubmissionOptions & {
  readonly definition?: AnyDefinition;
  readonly payload?: unknown;
  /** The payload's text, instead of `payload`. */
  readonly json?: string;
  readonly id?: string;
  readonly notBefore?: Date;
};

/** One `mail.send` of the queue `default`, with an id of its own, unless something else is said. */
export function aSubmission(given: SubmissionGiven = {}): Submission {
  const { definition = sendMail, payload = {}, json, id = freshId('job'), ...options } = given;

  return json === undefined
    ? definition.create(payload, { id, ...options })
    : definition.createFromJson(json, { id, ...options });
}

/** So many of them, each with an id of its own. */
export function someSubmissions(count: number, given: Omit<SubmissionGiven, 'id'> = {}): Submission[] {
  return Array.from({ length: count }, () => aSubmission(given));
}

/** By `executor-1`, for ten `mail.send` of every queue, unless something else is said. */
export function aClaim(request: Partial<ClaimRequest> = {}): ClaimRequest {
  return { executorId: theExecutor, definitions: [sendMail], queues: null, limit: 10, ...request };
}

/** Without a lease and with an id of its own, unless something else is said. */
export function anExecutor(registration: Partial<ExecutorRegistration> = {}): ExecutorRegistration {
  return { id: freshId('executor'), name: 'billing', host: 'alpha', leaseUntil: null, metadata: {}, ...registration };
}

/** Progress of an attempt as it is reported. */
export function aReport(attempt: AttemptRef, value: number, message: string | null = null): ProgressReport {
  return { ...refOf(attempt), value, message };
}

interface SettlementGiven {
  readonly progress?: Progress | null;
}

/** Succeeded with the result `mail/1`, unless something else is said. */
export function succeeded(
  attempt: AttemptRef,
  { progress = null, resultRef = 'mail/1' }: SettlementGiven & { readonly resultRef?: string | null } = {},
): Settlement {
  return { ...refOf(attempt), progress, outcome: 'succeeded', resultRef };
}

type EndGiven = SettlementGiven & Partial<Pick<Settlement & { outcome: 'failed' }, 'failureReason' | 'error'>>;

/** Failed for good, with the reason `permanent_error` unless something else is said. */
export function failed(attempt: AttemptRef, given: EndGiven = {}): Settlement {
  const { progress = null, failureReason = 'permanent_error', error = 'no such mailbox' } = given;
  return { ...refOf(attempt), progress, outcome: 'failed', failureReason, error };
}

/** Cut short by its own executor, reason `shutdown`, unless something else is said. */
export function interrupted(attempt: AttemptRef, given: EndGiven = {}): Settlement {
  const { progress = null, failureReason = 'shutdown', error = null } = given;
  return { ...refOf(attempt), progress, outcome: 'interrupted', failureReason, error };
}

/** Failed, and to be started again at an instant. */
export function rescheduled(attempt: AttemptRef, nextRunAt: Micros, given: EndGiven = {}): Settlement {
  const { progress = null, failureReason = 'handler_error', error = 'mailbox busy' } = given;
  return { ...refOf(attempt), progress, outcome: 'rescheduled', nextRunAt, failureReason, error };
}

/** Put off to an instant, by the handler's wish. */
export function snoozed(attempt: AttemptRef, nextRunAt: Micros, { progress = null }: SettlementGiven = {}): Settlement {
  return { ...refOf(attempt), progress, outcome: 'snoozed', nextRunAt };
}

/** What a fact may say of a recurring job; `job` is its template. */
export type RecurringGiven = Partial<Omit<RecurringUpsert, 'template'>> & { readonly job?: SubmissionGiven };

/** A `mail.send` every hour, next at an instant that must be said. */
export function aRecurringJob(nextFireAt: Micros | null, given: RecurringGiven = {}): RecurringUpsert {
  const { job, scope = '', ...rest } = given;

  return {
    scope,
    id: freshId('recurring'),
    cron: '0 * * * *',
    timeZone: 'UTC',
    template: templateOf(aSubmission({ ...job, scope })),
    missed: 'one',
    overlap: 'queue',
    nextFireAt,
    ...rest,
  };
}

/** The fire of one occurrence of an hourly job. */
export function aFiring(job: JobKey, occurrence: Micros): Firing {
  return { key: keyOf(job), expected: occurrence, next: occurrence + 3_600_000_000, occurrences: [occurrence] };
}

/** Scope and id alone, of whatever has them. */
export function keyOf({ scope, id }: JobKey): JobKey {
  return { scope, id };
}

/** What addresses an attempt, alone. */
export function refOf({ scope, id, attempt, token }: AttemptRef): AttemptRef {
  return { scope, id, attempt, token };
}

/** A started attempt as a recovery sees it. */
export function runningOf(attempt: Attempt, executorId: string, onInterrupt: OnInterrupt): RunningAttempt {
  const { name, version, queue } = attempt;
  return { ...refOf(attempt), name, version, queue, executorId, onInterrupt };
}

function templateOf(submission: Submission): RecurringUpsert['template'] {
  const { scope, name, version, payload, queue, priority, maxAttempts, onInterrupt, timeoutMs, retryPolicy } =
    submission;
  const { lifetimeMs, metadata } = submission;

  return {
    scope, name, version, payload, queue, priority, maxAttempts, onInterrupt, timeoutMs, retryPolicy, lifetimeMs, metadata,
  }; // prettier-ignore
}

let count = 1;

/** Counted, so that a message is readable; and not in the order of their texts, so that no store sorts by id and seems right. */
function freshId(kind: string): string {
  count += 1;
  return `${kind}-${[...String(count)].reverse().join('')}-${count}`;
}
