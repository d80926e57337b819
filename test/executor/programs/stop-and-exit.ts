import { systemClock } from '../../../src/core/clock.ts';
import { defineJob } from '../../../src/core/definition.ts';
import { closeOrm, openOrm, type Driver } from '../../support/orm.ts';
import { entities, World } from '../support/world.ts';

// One job ends, one never does; then the executor stops and the ORM is closed. Whatever is left would keep this process alive.
const [driver, dbName] = process.argv.slice(2) as [Driver, string];
const work = defineJob<object>()({ name: 'work', timeout: '10d' });
const world = new World(driver, await openOrm(driver, entities, { dbName }), systemClock);
const began = { quick: false, deaf: false };
const executor = world.executor(
  [
    world.jobs.handler(work, async job => {
      job.progress(1);
      began[job.id as keyof typeof began] = true;
      if (job.id === 'deaf') await new Promise(() => {});
    }),
  ],
  { drainTimeout: 20, abortGrace: 20 },
);

await world.jobs.submit([work.create({}, { id: 'quick' }), work.create({}, { id: 'deaf' })]);
await executor.start();
while (!began.quick || !began.deaf) await new Promise(resolve => setImmediate(resolve));
await executor.stop();
await closeOrm(world.orm);

console.log(`stopped with ${String(world.log.of('executor_stopped')[0]?.recovered)} recovered`);
