import { defineEntity, p, type EntitySchema } from '@mikro-orm/core';
import { randomUUID } from 'node:crypto';

// The shop's own rows. Their keys are random where nothing else would notice a row that was written twice.

export type PayBy = 'card' | 'invoice';

export class Order {
  id: string;
  customer: string;
  payBy: PayBy;
  cents: number;

  constructor(id: string, customer: string, payBy: PayBy, cents: number) {
    this.id = id;
    this.customer = customer;
    this.payBy = payBy;
    this.cents = cents;
  }
}

export class ReceiptLine {
  id = randomUUID();
  order: string;
  text: string;
  cents: number;

  constructor(order: string, text: string, cents: number) {
    this.order = order;
    this.text = text;
    this.cents = cents;
  }
}

export class Payment {
  id = randomUUID();
  order: string;
  payBy: PayBy;
  cents: number;

  constructor(order: string, payBy: PayBy, cents: number) {
    this.order = order;
    this.payBy = payBy;
    this.cents = cents;
  }
}

export const shopEntities: EntitySchema[] = [
  defineEntity<Order>({
    class: Order,
    name: 'Order',
    tableName: 'shop_order',
    properties: {
      id: p.string().primary(),
      customer: p.string(),
      payBy: p.string().$type<PayBy>(),
      cents: p.integer(),
    },
  }),
  defineEntity<ReceiptLine>({
    class: ReceiptLine,
    name: 'ReceiptLine',
    tableName: 'shop_receipt_line',
    properties: { id: p.string().primary(), order: p.string(), text: p.string(), cents: p.integer() },
  }),
  defineEntity<Payment>({
    class: Payment,
    name: 'Payment',
    tableName: 'shop_payment',
    properties: { id: p.string().primary(), order: p.string(), payBy: p.string().$type<PayBy>(), cents: p.integer() },
  }),
];
