import { defineEntity, p } from '@mikro-orm/core';
import { MikroORM } from '@mikro-orm/postgresql';

/** The business row that a request writes beside its job, and a handler in its transaction. */
export const Purchase = defineEntity({
  name: 'Purchase',
  tableName: 'purchase',
  properties: {
    id: p.integer().primary().autoincrement(),
    customer: p.text(),
    total: p.double(),
    createdAt: p.datetime(),
  },
});

/** The host application: the same for every system, whose own entities may come in addition. */
export async function openApplication({ url, entities = [], connections, isPrepared }) {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [Purchase, ...entities],
    pool: { min: 0, max: connections },
  });
  if (!isPrepared) await orm.schema.create();

  return orm;
}

/** Through the unit of work: written when the transaction commits. */
export function purchase(em, n) {
  em.create(Purchase, { customer: `customer ${n}`, total: 12.5, createdAt: new Date() });
}
