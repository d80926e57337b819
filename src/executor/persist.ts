import { BackOff } from './back-off.ts';
import { sleep } from './sleep.ts';

const firstDelayMs = 100;
const longestDelayMs = 5000;

/** Tries until it works or the budget is over, at least once. @throws the last error */
export async function persist<T>(action: () => Promise<T>, budget: AbortSignal): Promise<T> {
  const backOff = new BackOff(firstDelayMs, longestDelayMs);

  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (budget.aborted) {
        throw error;
      }
      await sleep(backOff.next(), budget);
    }
  }
}
