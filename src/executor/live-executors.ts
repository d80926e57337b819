/**
 * The executors of this process that have started and not stopped. Of those without a lease nothing in the
 * database tells whether they are alive.
 */
export const liveExecutors = new Set<string>();
