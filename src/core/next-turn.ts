import { setImmediate } from 'node:timers/promises';

// Taken when loaded: a host's tests may stop the timers of Node, not our calls.
const nextTick = process.nextTick.bind(process);

/** Resolves in the next turn of the event loop. */
export const nextTurn = setImmediate;

/** Resolves when everything that was ready to go on has gone on. */
export async function settledTurn(): Promise<void> {
  await Promise.resolve();
  await new Promise<void>(resolve => nextTick(resolve));
}
