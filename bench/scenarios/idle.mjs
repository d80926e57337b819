import { setTimeout as sleep } from 'node:timers/promises';
import { sent } from '../measure/statements.mjs';

/** What a worker with nothing to do sends. */
export async function idle({ system, seconds }) {
  await system.work({ onJob: () => {} });
  await sleep(4000);

  const before = sent.count;
  await sleep(seconds * 1000);
  return { statementsPerSecond: (sent.count - before) / seconds };
}
