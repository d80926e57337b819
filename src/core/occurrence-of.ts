import { v7 as uuidV7 } from 'uuid';
import type { RecurringJob } from './recurring.ts';
import type { Submission } from './submission.ts';
import { dateOf, type Micros } from './time.ts';

/** The job of one occurrence, or of a run by hand (null). With `skip`, one active job at a time holds the recurring job's key. */
export function occurrenceOf(
  { id, template, overlap }: Pick<RecurringJob, 'id' | 'template' | 'overlap'>,
  occurrence: Micros | null,
): Submission {
  return {
    ...template,
    id: uuidV7(),
    notBefore: occurrence === null ? null : dateOf(occurrence),
    uniqueKey: overlap === 'skip' ? `rec:${id}` : null,
    after: [],
    // An occurrence comes from the clock, from no request.
    trace: null,
  };
}
