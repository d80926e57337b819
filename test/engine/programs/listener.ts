import { defineJob, jobEntities, Jobs } from '../../../src/index.ts';
import { closeOrm, openOrm } from '../../support/orm.ts';

// Listens until the first job has ended, then stops and leaves the rest to Node: nothing may keep the process alive.
const [dbName] = process.argv.slice(2) as [string];
const orm = await openOrm('postgresql', jobEntities, { dbName });
const jobs = new Jobs({ orm });
const step = defineJob<{ n: number }>()({ name: 'step' });
let ran = () => {};
const first = new Promise<void>(resolve => (ran = resolve));
const executor = jobs.executor({ handlers: [jobs.handler(step, () => ran())] });

await executor.start();
console.log('started');
await first;
await executor.stop();
await closeOrm(orm);
console.log('stopped');
