import type { EntityManager } from '@mikro-orm/core';
import { randomUUID } from 'node:crypto';
import type { StoreHint } from '../core/store.ts';

/** What all `Jobs` on one ORM share, so that one's executor hears of what was committed through another. */
export interface LocalHints {
  readonly listeners: Set<(hint: StoreHint) => void>;
  /** Who tells other processes: what it tells was heard here already. */
  readonly sender: string;
}

const hintsOf = new WeakMap<object, LocalHints>();

export function localHintsOf(em: EntityManager): LocalHints {
  const driver = em.getDriver();
  const hints = hintsOf.get(driver) ?? { listeners: new Set(), sender: randomUUID() };
  hintsOf.set(driver, hints);

  return hints;
}
