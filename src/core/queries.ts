import type { JobKey } from './job-key.ts';
import type { AttemptSnapshot } from './snapshot.ts';

/** Reads for people, beside the store that an executor needs. They take no lock and grant nothing. */
export interface JobQueries {
  /** All attempts of a job, the first one first; of an unknown job, none. Prunes go by job, so none is missing. */
  attempts(key: JobKey): Promise<AttemptSnapshot[]>;
}
