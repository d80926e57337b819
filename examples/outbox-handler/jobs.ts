import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { defineJob, PermanentError, type Jobs } from '../../src/index.ts';
import { Payment } from './entities.ts';
import { log } from './log.ts';

// What all of them have: a killed process may run them again unasked, and a failure is retried soon.
const careful = { onInterrupt: 'requeue', retry: { base: '200ms', jitter: 0 } } as const;
const ofOrder = z.object({ order: z.string() });

export const chargeCard = defineJob({
  name: 'card.charge',
  schema: z.object({ order: z.string(), card: z.string(), cents: z.int() }),
  ...careful,
});
export const mailReceipt = defineJob({ name: 'receipt.mail', schema: ofOrder, ...careful });
export const askForRating = defineJob({ name: 'rating.ask', schema: ofOrder, ...careful });
export const remindToPay = defineJob({ name: 'payment.remind', schema: ofOrder, ...careful });
export const stopReminding = defineJob({ name: 'reminder.stop', schema: ofOrder, ...careful });

/** The handlers: one for each definition. */
export function handlersOf(jobs: Jobs) {
  return [
    jobs.handler(chargeCard, async job => {
      const { order, card, cents } = job.payload;
      await elsewhere(`the bank charges ${order}`, job.signal);
      if (card === 'expired') throw new PermanentError(`the card of ${order} has expired`);

      // The payment, the next job and the end of this one: one commit, or none.
      await job.transactional(async em => {
        em.persist(new Payment(order, 'card', cents));
        await jobs.stage(em, mailReceipt.create({ order }, { id: `${order}:receipt` }));
        return `charge/${order}`;
      });
    }),

    // A mail can't be part of a transaction: a kill right after it means a second mail. That beats none at all.
    jobs.handler(mailReceipt, async job => {
      await elsewhere(`the mail server takes the receipt of ${job.payload.order}`, job.signal);
      if (job.attempt === 1) throw new Error('the mail server is busy');
      return `mail/${job.payload.order}`;
    }),

    jobs.handler(askForRating, async job => {
      await elsewhere(`the mail server takes the question to ${job.payload.order}`, job.signal);
    }),

    jobs.handler(remindToPay, async job => {
      await elsewhere(`the mail server takes the reminder of ${job.payload.order}`, job.signal);
    }),

    // To cancel is a transaction of its own, so it can't be in the message's. As a job it can't be forgotten.
    jobs.handler(stopReminding, async job => {
      await jobs.scope('').cancel(`${job.payload.order}:reminder`, { reason: 'the invoice is paid' });
    }),
  ];
}

/** Stands for a call to another system. */
async function elsewhere(what: string, signal: AbortSignal): Promise<void> {
  log(`  ${what} …`);
  await wait(50, undefined, { signal });
}
