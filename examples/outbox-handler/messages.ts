import type { EntityManager } from '@mikro-orm/core';
import { z } from 'zod';
import { PermanentError, type Consumed, type Jobs, type Message, type Submission, type Unit } from '../../src/index.ts';
import { Order, Payment, ReceiptLine } from './entities.ts';
import { askForRating, chargeCard, remindToPay, stopReminding } from './jobs.ts';

const orderPlaced = z.object({
  order: z.string(),
  customer: z.string(),
  card: z.string().optional(),
  lines: z.array(z.object({ text: z.string(), cents: z.int() })).min(1),
});
const invoicePaid = z.object({ order: z.string(), cents: z.int() });

/**
 * Handles one delivery. Whatever `work` writes, sends and stages is committed together with the message's row in the inbox,
 * so a message that comes twice is handled once. The answer says what to tell the broker.
 */
export function handle(jobs: Jobs, message: Message): Promise<Consumed> {
  return jobs.unitOfWork.consume(message, 'shop', async unit => {
    switch (message.name) {
      case 'order.placed':
        return placeOrder(unit, message);
      case 'invoice.paid':
        return bookInvoice(unit, message);
      default:
        throw new PermanentError(`nobody here handles ${message.name}`);
    }
  });
}

async function placeOrder(unit: Unit<EntityManager>, message: Message): Promise<void> {
  const { order, customer, card, lines } = contentOf(message, orderPlaced);
  const cents = lines.reduce((sum, line) => sum + line.cents, 0);

  unit.em.persist(new Order(order, customer, card ? 'card' : 'invoice', cents));
  unit.em.persist(lines.map(({ text, cents }) => new ReceiptLine(order, text, cents)));
  unit.outbox.add({ ...message, id: `${message.id}:out`, name: 'order.accepted' });
  await unit.stage(card ? jobsForCard(order, card, cents) : jobsForInvoice(order));
}

async function bookInvoice(unit: Unit<EntityManager>, message: Message): Promise<void> {
  const { order, cents } = contentOf(message, invoicePaid);
  // Messages may overtake each other: this one is then tried again a little later.
  if (!(await unit.em.findOne(Order, { id: order }))) throw new Error(`${order} is not here yet`);

  unit.em.persist(new Payment(order, 'invoice', cents));
  unit.outbox.add({ ...message, id: `${message.id}:out`, name: 'order.paid' });
  await unit.stage(stopReminding.create({ order }, { id: `${order}:stop` }));
}

function jobsForCard(order: string, card: string, cents: number): Submission[] {
  return [
    chargeCard.create({ order, card, cents }, { id: `${order}:charge` }),
    askForRating.create({ order }, { id: `${order}:rating`, notBefore: new Date(Date.now() + 1000) }),
  ];
}

function jobsForInvoice(order: string): Submission[] {
  const inTwoWeeks = new Date(Date.now() + 14 * 24 * 3600 * 1000);

  return [remindToPay.create({ order }, { id: `${order}:reminder`, notBefore: inTwoWeeks })];
}

/** A message that is wrong today is wrong tomorrow: it goes to the dead letters at once. */
function contentOf<T>(message: Message, schema: z.ZodType<T>): T {
  const { data, error } = schema.safeParse(JSON.parse(message.content));
  if (error) throw new PermanentError(`the ${error.issues[0]!.path.join('.')} of ${message.id} can't be right`);

  return data!;
}
