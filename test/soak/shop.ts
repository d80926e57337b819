import { defineEntity, p } from '@mikro-orm/core';
import { defineJob, jobEntities } from '../../src/index.ts';

/** A placed order; what was rolled back is not here. */
class Order {
  id!: string;
}

/** What the handlers did, a row each time they did it: nothing unique, so that doing it twice shows. */
class Booking {
  id!: number;
  jobId!: string;
}

export const entities = [
  defineEntity({ class: Order, name: 'Order', tableName: 'placed_order', properties: { id: p.string().primary() } }),
  defineEntity({
    class: Booking,
    name: 'Booking',
    tableName: 'booking',
    properties: { id: p.integer().primary().autoincrement(), jobId: p.string().fieldName('job_id') },
  }),
  ...jobEntities,
];

// No process is killed a hundred times while it runs one and the same job.
const again = { onInterrupt: 'requeue', maxAttempts: 100 } as const;

/** Books inside `job.transactional()`. */
export const charge = defineJob<{ order: string }>()({ name: 'charge', ...again });
/** Follows its order's charge. */
export const receipt = defineJob<{ order: string }>()({ name: 'receipt', ...again });
/** Throws when it starts for the first time. */
export const flaky = defineJob<{ order: string }>()({ name: 'flaky', retry: { base: '500ms', cap: '2s' }, ...again });
/** Comes every second. */
export const tick = defineJob<object>()({ name: 'tick', ...again });

/** The jobs of an order, by what they are. */
export const jobIdsOf = (order: string) => ({
  charge: `${order}:charge`,
  receipt: `${order}:receipt`,
  flaky: `${order}:flaky`,
});
