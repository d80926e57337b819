import type { RunningJob } from '../core/handler.ts';
import type { Logger } from '../core/logger.ts';
import { dateOf } from '../core/time.ts';
import { attemptFields } from './attempt-fields.ts';
import type { Completion } from './completion.ts';
import type { Once } from './once.ts';
import type { RunningAttempt } from './running-attempt.ts';

type Writing = 'progress' | 'transactional' | 'once';

/** What a handler is given: plain, frozen, and its functions work detached. */
export function runningJob<P, Em>(
  seen: Omit<RunningJob<P, Em>, Writing>,
  run: RunningAttempt,
  completion: Completion<Em>,
  once: Once<Em>,
  logger: Logger,
): RunningJob<P, Em> {
  return Object.freeze({
    ...seen,
    progress: progressOf(run, logger),
    transactional: <T extends string | void>(work: (em: Em) => Promise<T>) => completion.transactional(seen.em, work),
    once: (key, options, work) => once.once(key, options, work),
  });
}

/** The same without what writes, as middleware sees it. */
export function seenJob<P, Em>(run: RunningAttempt, payload: P, em: Em): Omit<RunningJob<P, Em>, Writing> {
  const { attempt } = run;

  return Object.freeze({
    scope: attempt.scope,
    id: attempt.id,
    payload,
    payloadText: attempt.payload,
    name: attempt.name,
    version: attempt.version,
    queue: attempt.queue,
    attempt: attempt.attempt,
    maxAttempts: attempt.attemptLimit,
    scheduledFor: dateOf(attempt.scheduledFor),
    metadata: attempt.metadata,
    trace: attempt.trace,
    signal: run.signal,
    em,
  });
}

function progressOf(run: RunningAttempt, logger: Logger): RunningJob<unknown, unknown>['progress'] {
  let isLate = false;

  return (percent, message) => {
    if (!run.isOver) {
      run.progress.report(percent, message);
    } else if (!isLate) {
      isLate = true;
      logger.warn(
        { event: 'late_progress', ...attemptFields(run.attempt) },
        'progress of an attempt that is over was ignored, as all that follow will be',
      );
    }
  };
}
