import { JobsError } from '../core/errors.ts';

/** A drain ran as many attempts as it may and something was still due. */
export class DrainLimitError extends JobsError {
  readonly code = 'DRAIN_LIMIT';
  readonly limit: number;

  constructor(limit: number) {
    super(
      `drain() ran ${limit} attempts and jobs are still due. Does a handler stage its own job again and again? If so many are ` +
        'meant to run, raise `limit`.',
    );
    this.limit = limit;
  }
}
