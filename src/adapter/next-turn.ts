import { setImmediate } from 'node:timers/promises';

/** Resolves in the next turn of the event loop. Taken when loaded: a host's tests may stop the timers of Node, not our calls. */
export const nextTurn = setImmediate;
