import { defineJob, jobEntities, Jobs } from '../../../src/index.ts';
import { closeOrm, openOrm, type Driver } from '../../support/orm.ts';

// Opens an ORM, submits and closes it at once, again and again. Whatever is left would keep this process alive.
const [driver, dbName] = process.argv.slice(2) as [Driver, string];
const step = defineJob<object>()({ name: 'step' });
const troubles: string[] = [];
const said = ({ event }: { readonly event: string }) => void troubles.push(event);

for (let round = 0; round < 30; round++) {
  const orm = await openOrm(driver, jobEntities, { dbName });
  const jobs = new Jobs({ orm, logger: { info: () => {}, warn: said, error: said } });
  // A second submit within ten milliseconds is told of later: after the close.
  for (let count = 0; count <= round % 3; count++) await jobs.submit(step.create({}));
  await closeOrm(orm);
}

process.on('exit', () => console.log(`ended with ${JSON.stringify(troubles)}`));
