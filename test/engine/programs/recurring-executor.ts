import { defineJob, jobEntities, Jobs } from '../../../src/index.ts';
import { openOrm, type Driver } from '../../support/orm.ts';
import { runUntilTerminated } from './run-until-terminated.ts';

// Fires what is recurring and runs nothing, until it is told to end.
const [driver, dbName] = process.argv.slice(2) as [Driver, string];
const orm = await openOrm(driver, jobEntities, { dbName });
const jobs = new Jobs({ orm });
const nothing = defineJob<unknown>()({ name: 'nothing' });
const executor = jobs.executor({
  handlers: [jobs.handler(nothing, () => {})],
  queues: ['nobodys'],
  maintenanceInterval: 100,
});

await runUntilTerminated(executor, orm);
console.log('stopped');
