import type { Run } from '../../session.ts';
import type { DatabaseSetup } from '../dialect.ts';
import { Raw, sql } from '../statement.ts';

/**
 * A transaction of ours waits 10 ms at most for another process's lock, then gives up and is repeated: better-sqlite3 waits
 * synchronously, and the five seconds that are usual stop every timer of the host. The setting belongs to the connection that
 * the host uses too, so it is put back before the transaction ends and gives the connection away.
 *
 * In rollback-journal mode the commit waits for whoever reads: it is sent here, and what the driver commits then is empty. There a
 * read waits for whoever writes, so it goes this way too.
 */
export async function withShortBusyTimeout<T>(
  run: Run,
  work: (run: Run) => Promise<T>,
  { hasWaitingCommit }: DatabaseSetup,
): Promise<T> {
  const [row] = await run(sql`pragma busy_timeout`);
  const before = Number(Object.values(row ?? {})[0] ?? 0);

  await run(setBusyTimeout(10));
  try {
    const result = await work(run);
    if (hasWaitingCommit) {
      await run(sql`commit`);
      await run(sql`begin`);
    }

    return result;
  } finally {
    await run(setBusyTimeout(before));
  }
}

function setBusyTimeout(ms: number) {
  return sql`pragma busy_timeout = ${new Raw(String(ms))}`;
}
