import type { Executor } from '../../../src/executor/executor.ts';
import { closeOrm, type TestOrm } from '../../support/orm.ts';

/** Runs an executor until the process is told to end, and says when it has started. */
export async function runUntilTerminated(
  executor: Pick<Executor<unknown>, 'start' | 'stop'>,
  orm: TestOrm,
): Promise<void> {
  const terminated = new Promise<void>(resolve => process.once('SIGTERM', () => resolve()));

  await executor.start();
  console.log('started');
  await terminated;
  await executor.stop();
  await closeOrm(orm);
}

/** What a test may wait for: a process that died is noticed within three seconds. */
export const shortLease = {
  progressInterval: 100,
  renewEvery: 300,
  lease: 3000,
  clockSkew: 100,
  maintenanceInterval: 200,
} as const;
