import { setTimeout as sleep } from 'node:timers/promises';
import { purchase } from '../application.mjs';
import { startMeter } from '../measure/meter.mjs';
import { startMemory } from '../measure/processes.mjs';

/**
 * From the start of the worker until no job is left unfinished. The jobs are there already. With `isWriting` each handler writes
 * a row in a transaction of the host application. A system that isn't through after `limitSeconds` is judged by what it did.
 */
export async function drain({ system, count, isWriting = false, limitSeconds = 120, serverPid }) {
  const all = Promise.withResolvers();
  const started = performance.now();
  let handled = 0;
  let firstAt = 0;
  const onJob = () => {
    handled++;
    if (handled === 1) firstAt = performance.now();
    // Some workers leave no turn to timers while they are busy.
    if (handled === count || performance.now() - started > limitSeconds * 1000) all.resolve();
  };

  const memoryGrown = startMemory();
  const end = startMeter(serverPid);
  const timer = setTimeout(all.resolve, limitSeconds * 1000);
  await system.work({ onJob, write: isWriting ? purchase : undefined });
  await all.promise;
  while (handled === count && (await system.unfinished()) > 0) await sleep(5);

  clearTimeout(timer);
  return { ...end(handled), handled, firstMs: firstAt - started, memoryGrownMiB: memoryGrown() };
}
