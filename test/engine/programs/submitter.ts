import { createInterface } from 'node:readline';
import { defineJob, jobEntities, Jobs } from '../../../src/index.ts';
import { closeOrm, openOrm } from '../../support/orm.ts';

// Another process, without an executor: does what each line of its input says, and says so.
const [dbName] = process.argv.slice(2) as [string];
const orm = await openOrm('postgresql', jobEntities, { dbName });
const jobs = new Jobs({ orm });
const step = defineJob<{ n: number }>()({ name: 'step' });

console.log('started');
for await (const line of createInterface({ input: process.stdin })) {
  const [what, id] = line.split(' ') as [string, string];
  if (what === 'submit') await jobs.submit(step.create({ n: 1 }, { id }));
  if (what === 'stage') await orm.em.fork().transactional(em => jobs.stage(em, step.create({ n: 1 }, { id })));
  if (what === 'cancel') await jobs.scope('').cancel(id);
  if (what === 'recur') await jobs.recurring.upsert(id, { cron: '* * * * * *', job: step.create({ n: 1 }) });
  if (what === 'remove') await jobs.recurring.remove(id);
  console.log(`done ${line}`);
}
await closeOrm(orm);
