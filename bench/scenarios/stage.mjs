import { purchase } from '../application.mjs';
import { inParallel } from '../in-parallel.mjs';
import { startMeter } from '../measure/meter.mjs';

/** Calls before the measured ones: an application runs for longer than Node takes to compile it. */
const warmUps = 2000;

/** A business row through the unit of work and a job, in one transaction of the host application. */
export async function stage({ system, orm, count, producers, serverPid }) {
  const request = n =>
    orm.em.fork().transactional(async em => {
      purchase(em, n);
      await system.stage(em, n);
    });
  await inParallel(producers, warmUps, request);

  const end = startMeter(serverPid);
  await inParallel(producers, count, request);
  return end(count);
}
