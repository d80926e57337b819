import type { Run } from '../../session.ts';
import { Raw, sql } from '../statement.ts';

/**
 * A transaction of ours waits 10 ms at most for another process's lock, then gives up and is repeated: better-sqlite3 waits
 * synchronously, and the five seconds that are usual stop every timer of the host. The setting belongs to the connection that
 * the host uses too, so it is put back before the transaction ends.
 */
export async function withShortBusyTimeout<T>(run: Run, work: (run: Run) => Promise<T>): Promise<T> {
  const [row] = await run(sql`pragma busy_timeout`);
  const before = Number(Object.values(row ?? {})[0] ?? 0);

  await run(setBusyTimeout(10));
  try {
    return await work(run);
  } finally {
    await run(setBusyTimeout(before));
  }
}

function setBusyTimeout(ms: number) {
  return sql`pragma busy_timeout = ${new Raw(String(ms))}`;
}
