/**
 * The executors of this process that have started and not stopped. They hold their jobs without a lease, so nothing in the
 * database tells them from those of a killed process.
 */
export const liveExecutors = new Set<string>();
