import { EntitySchema } from '@mikro-orm/core';

export class Order {
  id!: number;
  item!: string;
}

export const orderSchema = new EntitySchema<Order>({
  class: Order,
  properties: { id: { type: 'number', primary: true }, item: { type: 'string' } },
});
