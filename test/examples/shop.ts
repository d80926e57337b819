import type { EntityManager } from '@mikro-orm/core';
import fs from 'node:fs';
import { Order, Payment, ReceiptLine } from '../../examples/outbox-handler/entities.ts';
import { InboxMessage, Job, JobAttempt, OutboxMessage } from '../../src/index.ts';

export interface ShopMessage {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly content: {
    readonly order: string;
    readonly customer?: string;
    readonly card?: string;
    readonly cents?: number;
    readonly lines?: ReadonlyArray<{ readonly text: string; readonly cents: number }>;
  };
}

/** The shop's rows, each as a line. Leaves out what a kill may change: how many attempts and failures there were. */
interface Shop {
  readonly orders: string[];
  readonly lines: string[];
  readonly payments: string[];
  readonly jobs: string[];
  readonly inbox: string[];
  readonly outbox: string[];
}

/** The example's messages; with a suffix, other ones of the same kind: their ids and orders end in it. */
export function messagesWith(suffix = ''): ShopMessage[] {
  const file = new URL('../../examples/outbox-handler/messages.jsonl', import.meta.url);

  return fs
    .readFileSync(file, 'utf8')
    .replaceAll(/"(m|order)-\d+/g, id => id + suffix)
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as ShopMessage);
}

/** What is wrong after these messages; nothing, if each has its rows and jobs exactly once. */
export async function problemsAfter(messages: readonly ShopMessage[], em: EntityManager): Promise<string[]> {
  return [...shopProblems(await shopIn(em), shopAfter(messages)), ...(await attemptProblems(em))];
}

/** What has to be there once all of them were handled, however often they came and whatever happened meanwhile. */
function shopAfter(messages: readonly ShopMessage[]): Shop {
  const shops = [...new Map(messages.map(message => [message.id, message])).values()].map(afterMessage);

  return {
    orders: shops.flatMap(shop => shop.orders),
    lines: shops.flatMap(shop => shop.lines),
    payments: shops.flatMap(shop => shop.payments),
    jobs: shops.flatMap(shop => shop.jobs),
    inbox: shops.flatMap(shop => shop.inbox),
    outbox: shops.flatMap(shop => shop.outbox),
  };
}

/** What is there now. */
async function shopIn(em: EntityManager): Promise<Shop> {
  const rows = em.fork({ disableContextResolution: true });

  return {
    orders: (await rows.findAll(Order)).map(row => `${row.id} ${row.customer} ${row.payBy} ${row.cents}`),
    lines: (await rows.findAll(ReceiptLine)).map(row => `${row.order} ${row.text} ${row.cents}`),
    payments: (await rows.findAll(Payment)).map(row => `${row.order} ${row.payBy} ${row.cents}`),
    jobs: (await rows.findAll(Job)).map(row => `${row.id} ${row.name} ${row.state} ${row.failureReason ?? ''}`.trim()),
    inbox: (await rows.findAll(InboxMessage)).map(row => `${row.messageId} ${row.consumer} ${row.state}`),
    outbox: (await rows.findAll(OutboxMessage)).map(row => `${row.id} ${row.name} ${row.state}`),
  };
}

/** What is missing, and what is there too often or shouldn't be; nothing, if the two are the same. */
function shopProblems(found: Shop, expected: Shop): string[] {
  return (Object.keys(expected) as Array<keyof Shop>).flatMap(table => [
    ...without(expected[table], found[table]).map(row => `${table}: missing: ${row}`),
    ...without(found[table], expected[table]).map(row => `${table}: unexpected: ${row}`),
  ]);
}

/** What is wrong with the attempts of finished jobs, whatever their number; nothing, if all is well. */
async function attemptProblems(em: EntityManager): Promise<string[]> {
  const rows = em.fork({ disableContextResolution: true });
  const [jobs, attempts] = [await rows.findAll(Job), await rows.findAll(JobAttempt)];
  const orphans = attempts.filter(({ jobId }) => !jobs.some(({ id }) => id === jobId));

  return [
    ...orphans.map(({ jobId }) => `${jobId}: attempts without a job`),
    ...jobs.flatMap(job => {
      const own = attempts.filter(({ jobId }) => jobId === job.id).sort((a, b) => a.ordinal - b.ordinal);
      return problemsOf(job, own).map(problem => `${job.id}: ${problem}`);
    }),
  ];
}

/** Each row of `less` takes one away. */
function without(rows: readonly string[], less: readonly string[]): string[] {
  const rest = [...rows];

  for (const row of less) {
    const index = rest.indexOf(row);
    if (index !== -1) rest.splice(index, 1);
  }
  return rest;
}

function problemsOf(job: Job, attempts: readonly JobAttempt[]): string[] {
  const states = attempts.map(({ state }) => state);
  const lastState = job.state === 'cancelled' ? undefined : job.state;
  const wrong: Array<[boolean, string]> = [
    [
      attempts.some(({ ordinal }, index) => ordinal !== index + 1),
      'its attempts are not numbered from 1 without a gap',
    ],
    [attempts.length !== job.attemptCount, `${attempts.length} attempts, but ${job.attemptCount} counted`],
    [states.at(-1) !== lastState, `it is ${job.state}, its last attempt ${states.at(-1)}`],
    [states.slice(0, -1).some(state => state !== 'failed' && state !== 'interrupted'), `attempts ${states.join(', ')}`],
    [new Set(attempts.map(({ token }) => token)).size !== attempts.length, 'two attempts had one token'],
    [attempts.some(({ endedAt }) => endedAt === null), 'an attempt has no end'],
  ];

  return wrong.filter(([isWrong]) => isWrong).map(([, problem]) => problem);
}

function afterMessage({ id, name, content }: ShopMessage): Shop {
  const { order } = content;
  if (name === 'invoice.paid') {
    return {
      ...processed(id, 'order.paid'),
      orders: [],
      lines: [],
      payments: [`${order} invoice ${content.cents}`],
      jobs: [`${order}:stop reminder.stop succeeded`],
    };
  }
  if (content.lines!.length === 0) {
    return { orders: [], lines: [], payments: [], jobs: [], inbox: [`${id} shop dead_lettered`], outbox: [] };
  }

  const cents = content.lines!.reduce((sum, line) => sum + line.cents, 0);
  const isPaid = content.card !== undefined && content.card !== 'expired';

  return {
    ...processed(id, 'order.accepted'),
    orders: [`${order} ${content.customer} ${content.card ? 'card' : 'invoice'} ${cents}`],
    lines: content.lines!.map(line => `${order} ${line.text} ${line.cents}`),
    payments: isPaid ? [`${order} card ${cents}`] : [],
    jobs: jobsAfter(order, content.card),
  };
}

function jobsAfter(order: string, card: string | undefined): string[] {
  if (card === undefined) return [`${order}:reminder payment.remind cancelled cancel_requested`];

  const charged =
    card === 'expired'
      ? [`${order}:charge card.charge failed permanent_error`]
      : [`${order}:charge card.charge succeeded`, `${order}:receipt receipt.mail succeeded`];
  return [...charged, `${order}:rating rating.ask succeeded`];
}

function processed(id: string, answer: string): Pick<Shop, 'inbox' | 'outbox'> {
  return { inbox: [`${id} shop processed`], outbox: [`${id}:out ${answer} pending`] };
}
