import { checkDefinition, type AnyDefinition, type Payload } from '../core/definition.ts';
import { InvalidOptionError } from '../core/errors.ts';
import { testBench, type TestBench } from '../core/test-bench.ts';
import { Drain, type DrainOptions } from './drain.ts';
import type { DrainResult } from './drain-result.ts';
import { stagedJob, type StagedJob } from './staged-job.ts';
import { TestClock } from './test-clock.ts';

/** What tests do with the jobs of one `Jobs`. `Em` is its EntityManager; of `MemoryJobs`, undefined. */
export interface TestKit<Em> {
  readonly clock: TestClock;
  /**
   * The jobs of a definition, in whatever state, the oldest first: those staged in the transaction that is open on `em` and not yet
   * committed, and those committed before.
   *
   * @throws InvalidOptionError for what is no definition
   * @throws PayloadInvalidError when a stored payload doesn't fit the definition's schema
   */
  staged<D extends AnyDefinition>(em: Em, definition: D): Promise<Array<StagedJob<Payload<D>>>>;
  /** Those of all definitions, each payload as its text says. */
  staged(em: Em): Promise<Array<StagedJob<unknown>>>;
  /**
   * Runs what is due, one after the other: the highest priority first, then what has been due longest, then the oldest. What handlers
   * stage and what waited for a job is run as well; a retry, when the clock has been moved to it and it is drained again. Recurring jobs
   * that are due are fired first. Handlers are given, and judged by, what an executor would give and judge.
   *
   * @throws DrainLimitError when it doesn't come to an end
   * @throws AmbientTransactionError inside a transaction that it was not given
   * @throws TransactionRequiredError, EntityManagerMismatchError for an `em` without an open transaction of this ORM
   */
  drain(options: DrainOptions<Em>): Promise<DrainResult>;
}

/**
 * The testing kit of the `Jobs` or `MemoryJobs` that the code under test uses. Makes its clock stand still, now; a kit made later begins
 * anew. No executor should be running beside it.
 *
 * ```ts
 * const kit = testJobs(jobs);
 * await orm.em.fork().transactional(async em => {
 *   await service.place(em, order);
 *   expect(await kit.staged(em, sendReceipt)).toMatchObject([{ payload: { orderId: '1' } }]);
 *   expect(await kit.drain({ em, handlers })).toEqual({ succeeded: 1, failed: 0 });
 *   throw rollback;
 * }).catch(…);
 * ```
 */
export function testJobs<Em>(jobs: { readonly [testBench]: TestBench<Em> }): TestKit<Em> {
  const bench = jobs?.[testBench];
  if (bench === undefined) {
    throw new InvalidOptionError('jobs', 'be a `Jobs` or `MemoryJobs`', jobs);
  }

  bench.clock.restore();
  bench.clock.set(bench.clock.now());

  return Object.freeze({
    clock: new TestClock(bench.clock),
    staged: async (em: Em, definition?: AnyDefinition) => {
      if (definition !== undefined) {
        checkDefinition(definition);
      }
      const found = await bench.staged(em, definition ?? null);
      return found.map(job => stagedJob(job, definition)) as never;
    },
    drain: (options: DrainOptions<Em>) => new Drain(bench, options).run(),
  });
}
