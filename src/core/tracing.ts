import { InvalidOptionError } from './errors.ts';
import type { Logger } from './logger.ts';
import { withTrace, type Submission } from './submission.ts';
import { traceContextOf, type TraceContext } from './trace-context.ts';

/** Answers the trace context of whoever calls, for example OpenTelemetry's active one; undefined: there is none. */
export type TraceHook = () => TraceContext | undefined;

/** Gives submissions the trace context of the call that submits them. A hook that throws costs no job, and is logged once. */
export class Tracing {
  readonly #hook: TraceHook | undefined;
  readonly #logger: Logger;
  #hasFailed = false;

  /** @throws InvalidOptionError */
  constructor(hook: TraceHook | undefined, logger: Logger) {
    if (hook !== undefined && typeof hook !== 'function') {
      throw new InvalidOptionError('trace', 'be a function that answers a trace context', hook);
    }

    this.#hook = hook;
    this.#logger = logger;
  }

  /** What a submission was made with goes first. */
  applied(submissions: readonly Submission[]): readonly Submission[] {
    const trace = submissions.some(submission => submission.trace === null) ? this.#current() : null;

    return trace === null
      ? submissions
      : submissions.map(submission => (submission.trace === null ? withTrace(submission, trace) : submission));
  }

  #current(): TraceContext | null {
    try {
      return traceContextOf(this.#hook?.());
    } catch (error) {
      if (!this.#hasFailed) {
        this.#hasFailed = true;
        this.#logger.error(
          { event: 'trace_failed', error },
          'the `trace` option threw; jobs are added without a trace',
        );
      }
      return null;
    }
  }
}
