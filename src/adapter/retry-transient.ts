import { setTimeout as sleep } from 'node:timers/promises';
import { isPreparedRefused, isTransient } from './database-errors.ts';

const maxTries = 40;
const shortestMs = 5;
const longestMs = 200;

/**
 * Runs one of the library's own transactions, again when the database gave it up in favour of another (deadlock, serialization failure, a
 * SQLite file that another process writes to), or refused a prepared statement, which is text from then on. About six seconds at the
 * most; a transaction of the host's is never repeated.
 *
 * @param random a source of numbers from 0 to 1; without it two rivals would meet again and again
 */
export async function retryTransient<T>(work: () => Promise<T>, random: () => number): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= maxTries || !(isTransient(error) || isPreparedRefused(error))) {
        throw error;
      }
    }

    await sleep(random() * Math.min(longestMs, shortestMs * 2 ** attempt));
  }
}
