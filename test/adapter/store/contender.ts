import { setImmediate as nextTurn } from 'node:timers/promises';
import { jobEntities } from '../../../src/entities/index.ts';
import { Jobs } from '../../../src/jobs.ts';
import { closeOrm, openOrm } from '../../support/orm.ts';

/** A process of its own that claims and settles jobs of a SQLite file until none is queued: `contender.ts <file> <executor>`. */
const [dbName, executorId] = process.argv.slice(2) as [string, string];
const orm = await openOrm('sqlite', jobEntities, { dbName });
const { store } = new Jobs({ orm });
let settled = 0;
await store.register({ id: executorId, name: 'contender', host: 'alpha', leaseUntil: null, metadata: {} });

for (;;) {
  const { attempts, nextDueAt } = await store.claim({
    executorId,
    definitions: [{ name: 'mail.send', version: '1' }],
    queues: null,
    limit: 3,
  });
  if (nextDueAt === null) break;

  await store.progress(attempts.map(attempt => ({ ...attempt, value: 50, message: executorId })));
  const answers = await store.settle(
    attempts.map(attempt => ({ ...attempt, progress: null, outcome: 'succeeded', resultRef: executorId }) as const),
  );
  settled += answers.filter(({ answer }) => answer === 'settled').length;
  await nextTurn();
}

await closeOrm(orm);
console.log(`settled ${settled}`);
