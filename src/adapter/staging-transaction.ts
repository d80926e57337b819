import { TransactionContext, type EntityManager } from '@mikro-orm/core';
import { EntityManagerMismatchError, InvalidOptionError, TransactionRequiredError } from '../core/errors.ts';
import { hasOpenTransaction } from './open-transaction.ts';

/** What the transaction is for, in the words of an error. */
export interface TransactionUse {
  readonly operation: string;
  /** What to do without one. */
  readonly otherwise: string;
}

const staging: TransactionUse = {
  operation: 'stage()',
  otherwise: 'To add one job by itself, use `submit()`.',
};

/**
 * The EntityManager whose open transaction a stage writes in: the one given, or the one that its context resolves to.
 * Accepts `transactional()`, `begin()` on a fork, and the transaction of a running flush.
 *
 * @throws TransactionRequiredError when none is open, or only one on the global EntityManager
 * @throws EntityManagerMismatchError when it belongs to another ORM, or another transaction is open around the call
 */
export function stagingTransaction(
  given: EntityManager,
  own: EntityManager,
  { operation, otherwise }: TransactionUse = staging,
): EntityManager {
  if (typeof given?.getContext !== 'function') {
    throw new InvalidOptionError('em', 'be an EntityManager', given);
  }

  const em = given.getContext(false);
  if (em.getDriver() !== own.getDriver()) {
    throw new EntityManagerMismatchError(
      'The EntityManager belongs to another MikroORM instance than these jobs: a job staged there would not be in this transaction.',
    );
  }

  const ambient = ambientOf(em, own);
  if (ambient !== undefined && ambient !== em) {
    throw new EntityManagerMismatchError(
      `${operation} was given an EntityManager from outside the transaction that is open here. Pass the one that ` +
        '`transactional()` hands to its callback.',
    );
  }
  if (!hasOpenTransaction(em)) {
    throw new TransactionRequiredError(
      operation,
      `call it inside \`em.transactional(em => …)\`, after \`begin()\` on a fork, or in a hook of a running flush. ${otherwise}`,
    );
  }
  if (em.global) {
    throw new TransactionRequiredError(
      operation,
      'the global EntityManager after `begin()` is shared by everything in the process; begin on a fork of it.',
    );
  }

  return em;
}

function ambientOf(em: EntityManager, own: EntityManager): EntityManager | undefined {
  const ambient = TransactionContext.getEntityManager(em.name);
  return ambient && hasOpenTransaction(ambient) && ambient.getDriver() === own.getDriver() ? ambient : undefined;
}
