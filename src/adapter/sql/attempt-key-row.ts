import type { attemptKey } from '../job-row.ts';

/** An attempt as a statement addresses it: both tables are hit by their keys, and the token is compared, never searched. */
export type AttemptKeyRow = ReturnType<typeof attemptKey>;
