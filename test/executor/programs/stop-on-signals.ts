import { systemClock } from '../../../src/core/clock.ts';
import { defineJob } from '../../../src/core/definition.ts';
import { closeOrm, openOrm, type Driver } from '../../support/orm.ts';
import { entities, World } from '../support/world.ts';

// Runs the job that is there until it is told to stop. Its connections stay open, and a timer would keep it alive for ever.
const [driver, dbName, mode] = process.argv.slice(2) as [Driver, string, string];
const work = defineJob<object>()({ name: 'work' });
const world = new World(driver, await openOrm(driver, entities, { dbName }), systemClock);
const { jobs } = world;
let finish!: () => void;
const permission = new Promise<void>(resolve => (finish = resolve));
setInterval(() => {}, 3_600_000);

const executor = jobs.executor({
  handlers: [
    jobs.handler(work, async job => {
      job.signal.addEventListener('abort', () => console.log('aborted'));
      console.log('began');
      await (mode === 'deaf' || mode === 'impatient' ? new Promise(() => {}) : permission);
    }),
  ],
  lease: false,
  drainTimeout: mode === 'deaf' ? 20 : '10m',
  abortGrace: 20,
});
const second = jobs.executor({ handlers: [jobs.handler(work, () => {})], queues: ['other'], lease: false });
jobs.events.subscribe(({ event }) => console.log(event));
await executor.start();
await second.start();

const stop = executor.stop.bind(executor);
executor.stop = () => {
  console.log('stopping');
  return stop();
};
const takeBack = [executor.stopOnSignals(), second.stopOnSignals(['SIGTERM'])];
if (mode === 'taken back') takeBack.forEach(call => call());
if (mode === 'host') {
  process.once('SIGTERM', () => {
    void executor.stop().then(async () => {
      await second.stop();
      await closeOrm(world.orm);
      console.log('closed by the host');
      process.exit(7);
    });
  });
}

process.stdin.on('data', () => finish());
console.log('ready');
