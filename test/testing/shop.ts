import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { defineEntity, p, type EntityManager } from '@mikro-orm/core';
import { z } from 'zod';
import { defineJob } from '../../src/core/definition.ts';
import type { HandlerResult, RegisteredHandler } from '../../src/core/handler.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { testJobs, type TestKit } from '../../src/testing/index.ts';
import { Log } from '../executor/support/log.ts';
import { createOrm, dropOrm, type Driver, type TestOrm } from '../support/orm.ts';

export class Entry {
  id!: string;
  text!: string;
}

const entrySchema = defineEntity({
  class: Entry,
  name: 'Entry',
  tableName: 'entry',
  properties: { id: p.string().primary(), text: p.string() },
});

export const charge = defineJob({
  name: 'card.charge',
  schema: z.object({ orderId: z.string(), due: z.coerce.date() }),
});
export const receipt = defineJob<{ orderId: string }>()({ name: 'receipt.send' });
export const step = defineJob<{ label: string }>()({ name: 'step', retry: { base: '10s', jitter: 0.5 } });

/** A host application and the kit that its tests use; every test begins with empty tables. */
export class Shop {
  orm!: TestOrm;
  jobs!: Jobs<EntityManager>;
  kit!: TestKit<EntityManager>;
  log!: Log;
  readonly ran: string[] = [];

  /** Notes what it ran, then does what is given. */
  step(then: (label: string) => HandlerResult | Promise<HandlerResult> = () => {}): RegisteredHandler<EntityManager> {
    return this.jobs.handler(step, async ({ payload: { label } }) => {
      this.ran.push(label);
      return then(label);
    });
  }

  async submit(...labels: string[]): Promise<void> {
    await this.jobs.submit(labels.map(label => step.create({ label }, { id: label })));
  }

  /** Runs `work` in a transaction and rolls that back. */
  async rolledBack(work: (em: EntityManager) => Promise<unknown>): Promise<void> {
    const rollback = new Error('rolled back by the test');
    const transaction = this.orm.em.fork().transactional(async em => {
      await work(em);
      throw rollback;
    });

    await transaction.catch((error: unknown) => {
      if (error !== rollback) {
        throw error;
      }
    });
  }

  async countsOf(...tables: string[]): Promise<number[]> {
    const counts = [];
    for (const table of tables) {
      const [row] = await this.orm.em.fork().execute<[{ n: unknown }]>(`select count(*) as n from ${table}`);
      counts.push(Number(row.n));
    }

    return counts;
  }
}

export function useShop(driver: Driver): Shop {
  const shop = new Shop();

  beforeAll(async () => {
    shop.orm = await createOrm(driver, [...jobEntities, entrySchema]);
  });
  afterAll(() => dropOrm(shop.orm));

  beforeEach(() => {
    shop.log = new Log();
    shop.jobs = new Jobs({ orm: shop.orm, logger: shop.log, notifications: false }) as never;
    shop.kit = testJobs(shop.jobs);
    shop.ran.length = 0;
  });
  afterEach(async () => {
    for (const table of tables) {
      await shop.orm.em.fork().execute(`delete from ${table}`);
    }
  });

  return shop;
}

export const tables = [
  'durable_job', 'durable_job_attempt', 'durable_job_dependency', 'durable_executor', 'durable_job_queue', 'durable_recurring_job', 'entry',
]; // prettier-ignore
