import { Jobs } from '../../src/jobs.ts';
import { openOrm, type Driver } from '../support/orm.ts';
import { aMessage, entities, handleOrder, type Em } from './world.ts';

/** Consumes one message and hangs at the given barrier, to be killed there. */
const [driver, dbName, barrier] = process.argv.slice(2) as [Driver, string, string];

const orm = await openOrm(driver, entities, { dbName });
const jobs = new Jobs<Em>({ orm });

const hang = async (at: string): Promise<void> => {
  if (at !== barrier) return;
  process.stdout.write('at the barrier\n');
  await new Promise(() => setInterval(() => {}, 60_000));
};

orm.em.getEventManager().registerSubscriber({ beforeTransactionStart: () => hang('between acquiring and work') });

await jobs.unitOfWork.consume(aMessage(), 'billing', async unit => {
  await handleOrder(unit);
  await unit.em.flush();
  await hang('inside of work');
  // After the unit's own last statements: everything is written and nothing is committed.
  unit.em.getEventManager().registerSubscriber({ beforeTransactionCommit: () => hang('before the commit') });
});

await hang('after the commit');
process.exit(1);
