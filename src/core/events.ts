import type { SettlementOutcome } from './attempt.ts';
import type { FailureReason } from './failure-reason.ts';
import type { JobKey } from './job-key.ts';
import type { JobState } from './states.ts';

/** The job that an event is about. */
export interface EventJob extends JobKey {
  readonly name: string;
  readonly version: string;
  readonly queue: string;
}

/** The attempt that an event is about; never its token. */
export interface EventAttempt extends EventJob {
  /** Which start of the job it is; the first is 1. */
  readonly attempt: number;
}

/**
 * What this process does, as it happens: what other processes do is told there. Names and fields are stable. Durations are
 * milliseconds.
 */
export interface EventFields {
  /** A job was added, and its transaction has committed. Not told of what was there already. */
  readonly job_staged: EventJob & {
    /** `awaiting`: it waits for its parents. */
    readonly state: JobState;
  };
  /** A cancel was asked for. `cancelled`: the job is, now or since before; `requested`: it runs, and its handler is told. */
  readonly cancel_requested: JobKey & {
    readonly answer: 'cancelled' | 'requested';
    readonly reason: string | null;
    readonly actor: string | null;
  };
  /** A job that had ended was queued again, its budget kept. `awaiting`: it waits for its parents again. */
  readonly job_retried: JobKey & { readonly state: 'queued' | 'awaiting'; readonly actor: string | null };
  /** The same with a fresh budget. `repaired`: with another payload than before. */
  readonly job_resurrected: JobKey & {
    readonly state: 'queued' | 'awaiting';
    readonly repaired: boolean;
    readonly actor: string | null;
  };
  /** A job that waited for its parents waits no more: it is `queued`, or was `cancelled` with one of them. */
  readonly job_resolved: EventJob & { readonly state: 'queued' | 'cancelled' };
  /** A job was claimed, and its handler begins. */
  readonly attempt_started: EventAttempt & {
    readonly executorId: string;
    /** From the instant when it was due to its start. */
    readonly waitMs: number;
  };
  /** The progress of an attempt was stored. The last one, which is stored with the outcome, isn't told of by itself. */
  readonly attempt_progressed: EventAttempt & {
    /** 0 to 100. */
    readonly progress: number;
    readonly message: string | null;
  };
  /** An attempt has ended, and its outcome is stored. */
  readonly attempt_settled: EventAttempt & {
    /** How it ended. */
    readonly outcome: SettlementOutcome;
    /** What its job is now; `cancelled` where a cancel came first, whatever the outcome. */
    readonly state: JobState;
    readonly failureReason: FailureReason | null;
    /** The text as it is stored. */
    readonly error: string | null;
    /** When the next start is due, if there is one. */
    readonly nextRunAt: Date | null;
    readonly waitMs: number;
    /** From its start to its end, without the writing of its outcome. */
    readonly runMs: number;
  };
  /** An attempt no longer owns its job, so nothing of it is written. */
  readonly attempt_lost: EventAttempt;
  /** The row of an attempt is gone, so nothing was written; its job stays running. */
  readonly attempt_missing: EventAttempt;
  /** A claim was undone before its handler began; the start doesn't count. */
  readonly attempt_released: EventAttempt;
  /** An attempt whose process is gone, or that a stop cut short, was ended. */
  readonly attempt_recovered: EventAttempt & {
    readonly state: 'queued' | 'interrupted' | 'cancelled';
    readonly failureReason: FailureReason;
  };
  /** An operator deleted dead letters: `purged` of them. */
  readonly dead_letters_purged: { readonly actor: string | null; readonly purged: number };
  /** A recurring job fired. `skipped`: occurrences left out because an earlier job is active. */
  readonly recurring_fired: JobKey & { readonly created: number; readonly skipped: number };
  /** A recurring job's schedule can't be read any more; it is parked until the next upsert. */
  readonly schedule_broken: JobKey & { readonly error: unknown };
  /** `recovered`: what killed processes had left running. `connections`: as many it may use; null where there is no pool. */
  readonly executor_started: {
    readonly executorId: string;
    readonly name: string;
    readonly recovered: number;
    readonly connections: number | null;
  };
  /** `recovered`: attempts that the stop cut short. `unsettled`: outcomes that could not be written. */
  readonly executor_stopped: { readonly executorId: string; readonly recovered: number; readonly unsettled: number };
  /** This executor's lease is over: its handlers were told to stop, and it registers anew. */
  readonly lease_lost: { readonly executorId: string };
  /** This process declared these executors dead. */
  readonly executors_lapsed: { readonly lapsed: readonly string[] };
  /** Something that an executor does again and again began to fail; it is tried again. Told once. */
  readonly loop_failed: { readonly loop: EventLoop; readonly error: unknown };
  /** It works again. */
  readonly loop_recovered: { readonly loop: EventLoop };
}

/** What an executor does again and again. */
export type EventLoop =
  | 'claim'
  | 'renew'
  | 'progress'
  | 'status'
  | 'recover_lapsed'
  | 'resolve'
  | 'prune'
  | 'prune_keys'
  | 'fire'
  | (string & {});

export type EventName = keyof EventFields;
/** One event; `event` says which, and the others go by it. */
export type JobsEvent<Name extends EventName = EventName> = {
  [E in Name]: { readonly event: E } & EventFields[E];
}[Name];

/** Called for every event, at once and in turn: it should return soon. What it throws, or rejects with, is logged once. */
export type JobsListener = (event: JobsEvent) => void | Promise<void>;

/** The events of this process, for logs, metrics, traces and tests. */
export interface JobsEvents {
  /** @returns ends it */
  subscribe(listener: JobsListener): () => void;
}
