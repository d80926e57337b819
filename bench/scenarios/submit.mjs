import { inParallel } from '../in-parallel.mjs';
import { startMeter } from '../measure/meter.mjs';

/** Calls before the measured ones: an application runs for longer than Node takes to compile it. */
const warmUps = 10_000;

/** Jobs by themselves, each in a call of its own, from so many producers at once. */
export async function submit({ system, count, producers, serverPid }) {
  await inParallel(producers, warmUps, system.submit);

  const end = startMeter(serverPid);
  await inParallel(producers, count, system.submit);
  return end(count);
}

/** All jobs in one call. */
export async function submitMany({ system, count, serverPid }) {
  await system.submitMany(500, 0);

  const end = startMeter(serverPid);
  await system.submitMany(count, 0);
  return end(count);
}
