import { InvalidOptionError, JobsError } from './errors.ts';
import type { HandlerResult, RunningJob } from './handler.ts';

/** What a middleware sees of a running job: everything but what writes to it. */
export type MiddlewareJob<Em> = Omit<RunningJob<unknown, Em>, 'progress' | 'transactional' | 'once'>;

/**
 * Stands around the handlers of an executor: sets a context, measures, logs. It calls `next()` once and answers what that answers; a
 * string of its own takes that one's place as the result reference. What it throws is judged as if the handler had thrown it.
 *
 * Without a `next()` the handler doesn't run, and the attempt goes by what the middleware does. One that ends without waiting for
 * `next()` doesn't end the attempt: it is waited for, and an error of it counts.
 */
export type JobMiddleware<Em> = {
  // A method's type on purpose: its EntityManager is compared loosely, as that of handlers is.
  call(job: MiddlewareJob<Em>, next: () => Promise<HandlerResult>): Promise<HandlerResult>;
}['call'];

/** `next()` was called twice, or after its middleware had ended. The handler was not run again. */
export class MiddlewareError extends JobsError {
  readonly code = 'MIDDLEWARE';
}

/** @throws InvalidOptionError */
export function checkedMiddleware<Em>(middleware: ReadonlyArray<JobMiddleware<Em>>): ReadonlyArray<JobMiddleware<Em>> {
  if (!Array.isArray(middleware) || middleware.some(each => typeof each !== 'function')) {
    throw new InvalidOptionError('middleware', 'be a list of functions', middleware);
  }

  return Object.freeze([...(middleware as ReadonlyArray<JobMiddleware<Em>>)]);
}

/** Runs a handler inside the middleware, the first of which is the outermost. */
export async function throughMiddleware<Em>(
  [outermost, ...rest]: ReadonlyArray<JobMiddleware<Em>>,
  job: MiddlewareJob<Em>,
  handler: () => HandlerResult | Promise<HandlerResult>,
): Promise<HandlerResult> {
  if (outermost === undefined) {
    return handler();
  }

  const inner = new Inner(() => throughMiddleware(rest, job, handler));
  try {
    const result = await outermost(job, () => inner.next());
    const own = await inner.result();
    return result ?? own;
  } finally {
    await inner.close();
  }
}

/** What a middleware stands around: run once, and never left running behind it. */
class Inner {
  readonly #run: () => Promise<HandlerResult>;
  #running: Promise<HandlerResult> | null = null;
  #hasEnded = false;
  #isClosed = false;
  #value: HandlerResult = undefined;
  #misuse: MiddlewareError | null = null;

  constructor(run: () => Promise<HandlerResult>) {
    this.#run = run;
  }

  next(): Promise<HandlerResult> {
    if (this.#running === null && !this.#isClosed) {
      this.#running = handled(this.#runOnce());
      return this.#running;
    }

    const what = this.#isClosed ? 'after its middleware had ended' : 'twice';
    this.#misuse = new MiddlewareError(`\`next()\` was called ${what}; the handler runs once.`);
    return handled(Promise.reject(this.#misuse));
  }

  /** What the middleware waited for and made nothing of is its own matter; what it didn't wait for counts. */
  async result(): Promise<HandlerResult> {
    if (this.#misuse !== null) {
      throw this.#misuse;
    }

    return this.#hasEnded || this.#running === null ? this.#value : this.#running;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running?.catch(() => {});
  }

  async #runOnce(): Promise<HandlerResult> {
    try {
      return (this.#value = await this.#run());
    } finally {
      this.#hasEnded = true;
    }
  }
}

/** A middleware that doesn't wait for it must not end the process with an unhandled rejection. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
