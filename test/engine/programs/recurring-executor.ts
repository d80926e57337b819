import { defineJob, jobEntities, Jobs } from '../../../src/index.ts';
import { closeOrm, openOrm, type Driver } from '../../support/orm.ts';

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

const terminated = new Promise<void>(resolve => process.once('SIGTERM', () => resolve()));

await executor.start();
console.log('started');
await terminated;
await executor.stop();
await closeOrm(orm);
console.log('stopped');
