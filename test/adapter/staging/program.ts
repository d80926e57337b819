import { defineJob } from '../../../src/core/definition.ts';
import { jobEntities } from '../../../src/entities/index.ts';
import { Jobs } from '../../../src/jobs.ts';
import type { Driver, TestOrm } from '../../support/orm.ts';
import { closeOrm, openOrm } from '../../support/orm.ts';
import { anOrder, orderSchema } from './order.ts';

const sendMail = defineJob<unknown>()({ name: 'mail.send' });

/** A process of its own: `program.ts driver database what`. */
const [driver, dbName, what] = process.argv.slice(2) as [Driver, string, keyof typeof programs];

const programs = {
  /** Writes an order and its job in one transaction, and says after each step that it is there. */
  async place(orm: TestOrm, jobs: Jobs): Promise<void> {
    const em = orm.em.fork();
    await em.begin();
    await reached('stage');
    await jobs.stage(em, [sendMail.create({}, { id: 'job-1' }), sendMail.create({}, { id: 'job-2' })]);
    await reached('order');
    await em.persist(anOrder('order-1')).flush();
    await reached('commit');
    await em.commit();
    await reached('end');
  },

  /** Submits a job for a fixed instant, and says what it was answered. */
  async schedule(_: TestOrm, jobs: Jobs): Promise<void> {
    const notBefore = new Date('2031-03-09T02:30:00.123Z');
    const { job } = await jobs.submit(sendMail.create({ at: notBefore }, { id: 'job-1', notBefore }));
    console.log(`scheduled ${JSON.stringify({ ...job, zone: new Date(job.nextRunAt).getTimezoneOffset() })}`);
  },
};

/** With a step to stop at, the process says so there and waits to be killed. */
async function reached(step: string): Promise<void> {
  if (process.env.STOP_AT !== step) return;
  console.log(`reached ${step}`);
  await new Promise(resolve => setTimeout(resolve, 600_000));
}

const orm = await openOrm(driver, [orderSchema, ...jobEntities], { dbName });
await programs[what](orm, new Jobs({ orm }));
await closeOrm(orm);
