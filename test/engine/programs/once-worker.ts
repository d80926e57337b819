import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineJob, jobEntities, Jobs } from '../../../src/index.ts';
import { openOrm, type Driver } from '../../support/orm.ts';
import { runUntilTerminated, shortLease } from './run-until-terminated.ts';

// An executor with a short lease, whose jobs do one thing outside of the database, once: two lines in a file, with a moment
// between them. The job `hangs` never comes to the second one.
const [driver, dbName, name, effects] = process.argv.slice(2) as [Driver, string, string, string];
const orm = await openOrm(driver, jobEntities, { dbName, pool: { min: 0, max: 10 } });
const jobs = new Jobs({ orm, logger: { info: () => {}, warn: () => {}, error: () => {} } });
const work = defineJob<{ key: string; hangs: boolean }>()({ name: 'work', onInterrupt: 'requeue' });

const executor = jobs.executor({
  handlers: [
    jobs.handler(work, async job => {
      const { key, hangs } = job.payload;
      const by = await job.once(key, { ttl: '1h' }, async () => {
        fs.appendFileSync(effects, `began ${key} ${name}\n`);
        if (hangs && job.attempt === 1) {
          console.log('hangs');
          await new Promise(() => {});
        }
        await delay(20);
        fs.appendFileSync(effects, `ended ${key} ${name}\n`);
        return name;
      });
      return by;
    }),
  ],
  name,
  concurrency: 4,
  pollInterval: 100,
  ...shortLease,
});

await runUntilTerminated(executor, orm);
