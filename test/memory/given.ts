import type { Clock } from '../../src/core/clock.ts';
import { defineJob } from '../../src/core/definition.ts';
import type { Logger } from '../../src/core/logger.ts';
import type { JobState } from '../../src/core/states.ts';
import type { MemoryExecutorOptions, MemoryJobs } from '../../src/memory/index.ts';
import { until } from '../support/until.ts';

export const sendMail = defineJob<{ readonly to: string }>()({
  name: 'mail.send',
  maxAttempts: 2,
  retry: { base: '1m', jitter: 0 },
});

/** Stands still until a test moves it. */
export class ManualClock implements Clock {
  #now = Date.UTC(2030, 0, 1) * 1000;

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms * 1000;
  }
}

export const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/** Runs `act` while an executor is at work that looks again soon: its clock may be moved by hand. */
export async function whileRunning(
  jobs: MemoryJobs,
  handlers: MemoryExecutorOptions['handlers'],
  act: () => Promise<void>,
): Promise<void> {
  const soon = { pollInterval: 10, progressInterval: 10, maintenanceInterval: 10 };
  const executor = jobs.executor({ handlers, ...soon });
  await executor.start();

  try {
    await act();
  } finally {
    await executor.stop();
  }
}

export function untilState(jobs: MemoryJobs, id: string, state: JobState): Promise<void> {
  return until(async () => (await jobs.scope('').get(id))?.state === state);
}
