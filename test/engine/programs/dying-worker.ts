import { defineJob, jobEntities, Jobs } from '../../../src/index.ts';
import { openOrm, type Driver } from '../../support/orm.ts';

// A process that every start of `poison` kills, without a word to the database.
const [driver, dbName] = process.argv.slice(2) as [Driver, string];
const orm = await openOrm(driver, jobEntities, { dbName });
const jobs = new Jobs({ orm });
const poison = defineJob<unknown>()({ name: 'poison' });
const sane = defineJob<unknown>()({ name: 'sane' });

const executor = jobs.executor({
  handlers: [
    jobs.handler(poison, job => {
      console.log(`began ${job.attempt}`);
      process.exit(1);
    }),
    jobs.handler(sane, () => console.log('sane')),
  ],
  lease: false,
});

await executor.start();
