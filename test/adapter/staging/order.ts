import { defineEntity, p } from '@mikro-orm/core';

/** The business row beside the job. */
export class Order {
  id!: string;
  note!: string | null;
}

export const orderSchema = defineEntity({
  class: Order,
  name: 'Order',
  tableName: 'order_',
  properties: { id: p.string().primary(), note: p.string().nullable() },
});

export function anOrder(id: string, note: string | null = null): Order {
  return Object.assign(new Order(), { id, note });
}
