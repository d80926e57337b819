import { setTimeout as delay } from 'node:timers/promises';
import { patience } from '../../support/until.ts';

/** Looks again and again until the condition gives something. */
export async function eventually<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const goOn = patience(() => String(look));

  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) {
      return found as NonNullable<T>;
    }

    goOn();
    await delay(10);
  }
}

/** The same numbers for the same seed, so that a failure can be had again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;

  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
