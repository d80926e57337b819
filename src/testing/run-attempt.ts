import type { Attempt, Settlement } from '../core/attempt.ts';
import { EventStream } from '../core/event-stream.ts';
import type { ExecutorEnvironment } from '../core/executor-environment.ts';
import type { Outcome } from '../core/outcome.ts';
import type { JobStore } from '../core/store.ts';
import type { TestBench, TestPlace } from '../core/test-bench.ts';
import { AttemptRunner } from '../executor/attempt-runner.ts';
import type { HandlerList } from '../executor/handler-list.ts';
import { RunningAttempts } from '../executor/running-attempts.ts';
import type { DrainError, Ending } from './drain-result.ts';

export interface AttemptEnd {
  readonly ending: Ending;
  /** Of what failed, be it to be tried again. */
  readonly error: DrainError | null;
}

/** Runs one attempt as an executor does, and writes at once how it ended. */
export async function runAttempt(
  attempt: Attempt,
  handlers: HandlerList<unknown>,
  bench: Pick<TestBench<never>, 'clock' | 'logger' | 'hear'>,
  place: TestPlace,
): Promise<AttemptEnd> {
  const { clock, logger } = bench;
  let decided: { readonly settlement: Settlement; readonly outcome: Outcome } | undefined;
  const running = new RunningAttempts(() => {});
  const environment = new WatchedEnvironment(place.environment);
  const runner = new AttemptRunner({
    handlers,
    middleware: [],
    events: new EventStream(logger),
    environment,
    idempotency: place.idempotency,
    running,
    settle: ({ settlement }, outcome) => (decided = { settlement, outcome }),
    // Only a stop interrupts, and a drain has none.
    interrupt: () => {},
    clock,
    // In the middle of the jitter, so that it moves nothing.
    random: () => 0.5,
    logger,
  });

  const stopHearing = bench.hear(hint => {
    if (hint.kind === 'cancel') {
      running.of(hint.key).forEach(run => run.abort('cancelled'));
    }
  });

  try {
    await runner.run(attempt);
  } finally {
    await stopHearing();
  }
  if (decided === undefined) {
    return { ending: environment.isSettled ? 'succeeded' : 'lost', error: null };
  }

  const ending = await settle(place.store(), decided.settlement);
  const hasFailed = ending === 'failed' || ending === 'rescheduled';
  return { ending, error: hasFailed ? errorOf(attempt, decided.settlement, decided.outcome) : null };
}

/** Notes whether `job.transactional` settled the attempt. */
class WatchedEnvironment implements ExecutorEnvironment<unknown> {
  readonly #environment: ExecutorEnvironment<unknown>;
  isSettled = false;

  constructor(environment: ExecutorEnvironment<unknown>) {
    this.#environment = environment;
  }

  check(): Promise<{ readonly connections: number | null }> {
    return this.#environment.check();
  }

  refuseTransaction(em: unknown, operation: string, advice: string): void {
    this.#environment.refuseTransaction(em, operation, advice);
  }

  run<T>(work: (em: unknown) => Promise<T>): Promise<T> {
    return this.#environment.run(work);
  }

  async transactional<T>(
    em: unknown,
    work: (em: unknown) => Promise<T>,
    settle: (store: Pick<JobStore, 'settle'>, result: T) => Promise<void>,
    cut: AbortSignal,
  ): Promise<T> {
    const result = await this.#environment.transactional(em, work, settle, cut);
    this.isSettled = true;

    return result;
  }
}

async function settle(store: JobStore, settlement: Settlement): Promise<Ending> {
  const [settled] = await store.settle([settlement]);
  if (settled?.answer !== 'settled') {
    return 'lost';
  }

  // A cancel that was committed first beats the outcome; `interrupted` is written for nothing else here.
  return settled.state === 'cancelled' || settlement.outcome === 'interrupted' ? 'cancelled' : settlement.outcome;
}

function errorOf({ scope, id, name, attempt }: Attempt, settlement: Settlement, outcome: Outcome): DrainError {
  // A result that is none was returned, so nothing was thrown: what is stored says it.
  const stored = 'error' in settlement ? settlement.error : null;

  return Object.freeze({ scope, id, name, attempt, error: 'error' in outcome ? outcome.error : stored });
}
