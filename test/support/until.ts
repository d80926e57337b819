/** Shorter than a test's own time limit, which would not say what was waited for. */
export const patienceMs = 50_000;

/** To be called with each look: throws once that has gone on for too long. */
export function patience(what: () => string): () => void {
  const began = performance.now();

  return () => {
    if (performance.now() - began > patienceMs) {
      throw new Error(`waited ${patienceMs / 1000} seconds in vain for ${what()}`);
    }
  };
}

/** Resolves when the condition holds, looking again with every turn of the event loop. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const goOn = patience(() => String(condition));

  while (!(await condition())) {
    goOn();
    await new Promise(resolve => setImmediate(resolve));
  }
}
