import { IsolationLevel, RequestContext, type EntityManager } from '@mikro-orm/core';
import type { ExecutorEnvironment } from '../core/executor-environment.ts';
import type { JobStore } from '../core/store.ts';
import { refuseAmbientTransaction } from './ambient-transaction.ts';
import type { OwnSession } from './own-session.ts';
import { hasNoPool } from './has-no-pool.ts';
import { cutBy, settledTransaction } from './settled-transaction.ts';
import type { SqlDialect } from './sql/dialect.ts';
import { checkSchema } from './sql/shared/check-schema.ts';

/** What an executor's handlers run in: forks and transactions of the host's ORM. */
export class MikroOrmHandlerEnvironment<Em extends EntityManager> implements ExecutorEnvironment<Em> {
  readonly #em: Em;
  readonly #session: OwnSession;
  readonly #dialect: SqlDialect;
  readonly #storeIn: (em: EntityManager) => JobStore;

  constructor(em: Em, session: OwnSession, dialect: SqlDialect, storeIn: (em: EntityManager) => JobStore) {
    this.#em = em;
    this.#session = session;
    this.#dialect = dialect;
    this.#storeIn = storeIn;
  }

  async check(): Promise<{ readonly connections: number | null }> {
    refuseAmbientTransaction(this.#em, 'executor.start()', 'Start it after the transaction.');
    for (const statement of checkSchema(this.#session.tables)) {
      await this.#session.read(statement);
    }

    return {
      connections: this.#dialect.hasIsolationLevels ? (this.#em.config.get('pool')?.max ?? defaultPoolSize) : null,
    };
  }

  /** MikroORM 7 connects again. */
  get isClosed(): boolean {
    return hasNoPool(this.#em);
  }

  refuseTransaction(em: Em, operation: string, advice: string): void {
    refuseAmbientTransaction(em, operation, advice);
  }

  hasUnflushed(em: Em): boolean {
    const unitOfWork = em.getUnitOfWork(false);
    return unitOfWork.getPersistStack().size + unitOfWork.getRemoveStack().size > 0;
  }

  run<T>(work: (em: Em) => Promise<T>): Promise<T> {
    return RequestContext.create(this.#em, async () => {
      const em = RequestContext.getEntityManager(this.#em.name) as Em;
      try {
        return await work(em);
      } finally {
        // A handler that leaves its begin() open would keep the connection for ever: SQLite's only one.
        if (em.isInTransaction()) {
          await em.rollback();
        }
      }
    });
  }

  transactional<T>(
    em: Em,
    work: (em: Em) => Promise<T>,
    settle: (store: Pick<JobStore, 'settle'>, result: T) => Promise<void>,
    cut: AbortSignal,
  ): Promise<T> {
    refuseAmbientTransaction(em, 'job.transactional()', 'It opens the transaction itself: call it outside of yours.');
    const options = this.#dialect.hasIsolationLevels ? { isolationLevel: IsolationLevel.READ_COMMITTED } : {};

    return settledTransaction(em, { ...options, ...cutBy(cut, em) }, this.#storeIn, work, settle);
  }
}

/** What both majors' pools hold when the host doesn't say. */
const defaultPoolSize = 10;
