import { defineEntity, p } from '@mikro-orm/core';

const orderSchema = defineEntity({ name: 'Order', properties: { id: p.integer().primary(), item: p.string() } });

export class Order extends orderSchema.class {}

orderSchema.setClass(Order);
