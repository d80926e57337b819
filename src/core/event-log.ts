import type { JobsEvent } from './events.ts';
import type { Logger } from './logger.ts';

/** Writes what an operator should read of. What happens to every job isn't logged: listen for it. How one ends that needs somebody is. */
export function logEvent(logger: Logger, event: JobsEvent): void {
  switch (event.event) {
    case 'attempt_settled':
    case 'attempt_recovered':
      return logEnding(logger, event);
    case 'attempt_lost':
      return logger.warn({ ...event }, 'an attempt no longer owns its job; nothing of it is written');
    case 'attempt_missing':
      return logger.error({ ...event }, 'the row of an attempt is gone, so nothing was written; its job stays running');
    case 'recurring_fired':
      return logger.info({ ...event }, 'a recurring job fired');
    case 'schedule_broken':
      return logger.error({ ...event }, "a recurring job's schedule can't be read; it is parked");
    case 'executor_started':
      return logger.info(
        { ...event },
        `executor started${event.connections === null ? '' : `; it may use ${event.connections} connections`}`,
      );
    case 'executor_stopped':
      return logger.info({ ...event }, 'executor stopped');
    case 'lease_lost':
      return logger.error(
        { ...event },
        'the executor lost its lease; its handlers were told to stop and can write no more, and it registers anew',
      );
    case 'executors_lapsed':
      return logger.warn({ ...event }, 'executors stopped renewing their leases; what they ran is recovered');
    case 'loop_failed': {
      const fields = { event: `${event.loop}_failed`, error: event.error };
      return logger.error(fields, `${event.loop} failed; it is tried again`);
    }
    case 'loop_recovered':
      return logger.info({ event: `${event.loop}_recovered` }, `${event.loop} works again`);
    case 'dead_letters_purged':
      return logger.info({ ...event }, 'dead letters were deleted by an operator');
    case 'job_staged':
    case 'cancel_requested':
    case 'job_retried':
    case 'job_resurrected':
    case 'job_resolved':
    case 'attempt_started':
    case 'attempt_progressed':
    case 'attempt_released':
      return;
  }
}

function logEnding(logger: Logger, event: JobsEvent<'attempt_settled' | 'attempt_recovered'>): void {
  if (event.state === 'failed') {
    logger.error({ ...event }, 'a job failed for good');
  } else if (event.state === 'interrupted') {
    logger.warn({ ...event }, 'a job was interrupted and is not run again unasked');
  }
}
