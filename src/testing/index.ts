// For tests of a host: time that is moved by hand, what was staged, and a drain that runs what is due.
export { testJobs, type TestKit } from './test-kit.ts';
export { TestClock } from './test-clock.ts';
export { DrainLimitError } from './drain-limit-error.ts';
export type { DrainOptions } from './drain.ts';
export type { DrainError, DrainResult } from './drain-result.ts';
export type { StagedJob } from './staged-job.ts';
