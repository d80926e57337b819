import { defineEntity, p, type EntitySchema } from '@mikro-orm/core';
import { refuseAmbientTransaction } from '../../src/adapter/ambient-transaction.ts';
import { retryTransient } from '../../src/adapter/retry-transient.ts';
import { defineJob } from '../../src/core/definition.ts';
import type { LogFields, Logger } from '../../src/core/logger.ts';
import type { Message } from '../../src/core/message.ts';
import type { Micros } from '../../src/core/time.ts';
import { InboxMessage, Job, jobEntities, OutboxMessage } from '../../src/entities/index.ts';
import { Jobs } from '../../src/jobs.ts';
import type { UnitOfWorkOptions } from '../../src/unit-of-work/options.ts';
import type { Unit } from '../../src/unit-of-work/unit.ts';
import { UnitOfWork } from '../../src/unit-of-work/unit-of-work.ts';
import { createOrm, type CreateOptions, type Driver, type TestOrm } from '../support/orm.ts';
import { ManualTime } from './manual-time.ts';

export class Payment {
  id!: string;
  amount!: number;

  constructor(id: string, amount = 1) {
    this.id = id;
    this.amount = amount;
  }
}

export const paymentSchema: EntitySchema<Payment> = defineEntity<Payment>({
  class: Payment,
  name: 'Payment',
  tableName: 'payment',
  properties: {
    id: p.string().primary(),
    amount: p.integer(),
  },
});

export const entities = [paymentSchema, ...jobEntities];
export const sendReceipt = defineJob<{ payment: string }>()({ name: 'receipt.send' });

export type Em = TestOrm['em'];

export interface World {
  readonly orm: TestOrm;
  readonly driver: Driver;
  readonly unitOfWork: UnitOfWork<Em>;
  readonly time: ManualTime;
  readonly logged: LogFields[];
  readonly queries: string[];
}

export interface WorldOptions extends CreateOptions {
  readonly uow?: UnitOfWorkOptions;
}

/** A unit of work with real parts on a database of its own, with a clock and timers that only move by hand. */
export async function createWorld(driver: Driver, { uow, ...options }: WorldOptions = {}): Promise<World> {
  const queries: string[] = [];
  const orm = await createOrm(driver, entities, {
    debug: ['query'],
    logger: message => queries.push(plain(message)),
    ...options,
  });
  queries.length = 0;

  return { orm, queries, driver, ...createUnitOfWork(orm, driver, uow) };
}

/** The world of the next test: empty tables, a new clock, and options of its own. */
export async function refresh({ orm, queries, driver }: World, uow: UnitOfWorkOptions = {}): Promise<World> {
  const em = orm.em.fork({ disableContextResolution: true });
  for (const { tableName } of entities.map(({ meta }) => meta)) {
    await em.execute(`delete from ${tableName}`);
  }
  queries.length = 0;

  return { orm, queries, driver, ...createUnitOfWork(orm, driver, uow) };
}

/** Another process's unit of work, as far as the database can tell. */
export function createUnitOfWork(
  orm: TestOrm,
  dialect: Driver,
  options: UnitOfWorkOptions = {},
  time = new ManualTime(),
): Pick<World, 'unitOfWork' | 'time' | 'logged'> {
  const jobs = new Jobs<Em>({ orm });
  const logged: LogFields[] = [];
  const log = (fields: LogFields) => void logged.push(fields);
  const logger: Logger = { info: log, warn: log, error: log };

  const unitOfWork = new UnitOfWork<Em>({
    dialect,
    fork: () => orm.em.fork({ disableContextResolution: true }),
    refuseAmbientTransaction: operation => refuseAmbientTransaction(orm.em, operation, 'Call it outside.'),
    stage: (em, submissions) => jobs.stage(em, submissions),
    retry: write => retryTransient(write, Math.random),
    delay: time.delay,
    clock: time,
    random: () => 0.5,
    logger,
    options: { busyWait: 0, retry: { jitter: 0 }, ...options },
  });

  return { unitOfWork, time, logged };
}

export function aMessage(overrides: Partial<Message> = {}): Message {
  return { id: 'm-1', name: 'order.paid', version: '1', content: '{"order":1}', ...overrides };
}

/** A handler that writes some of everything. */
export async function handleOrder({ em, stage, outbox }: Unit<Em>): Promise<void> {
  em.persist(new Payment('p'));
  outbox.add(aMessage({ id: 'm-1:out' }));
  await stage(sendReceipt.create({ payment: 'p' }, { id: 'j' }));
}

/** What is stored when the message was handled once. */
export const handled = { payments: ['p'], jobs: ['j'], outbox: ['m-1:out'], inbox: ['m-1/billing: processed'] };

export interface Stored {
  readonly payments: string[];
  readonly jobs: string[];
  readonly outbox: string[];
  readonly inbox: string[];
}

/** What is in the database, seen from outside: ids, and for the inbox the states. */
export async function stored({ orm }: Pick<World, 'orm'>): Promise<Stored> {
  const em = orm.em.fork({ disableContextResolution: true });
  const [payments, jobs, outbox, inbox] = [
    await em.find(Payment, {}, { orderBy: { id: 'asc' } }),
    await em.find(Job, {}, { orderBy: { id: 'asc' } }),
    await em.find(OutboxMessage, {}, { orderBy: { createdAt: 'asc' } }),
    await em.find(InboxMessage, {}, { orderBy: { messageId: 'asc', consumer: 'asc' } }),
  ];

  return {
    payments: payments.map(({ id }) => id),
    jobs: jobs.map(({ id }) => id),
    outbox: outbox.map(({ id }) => id),
    inbox: inbox.map(({ messageId, consumer, state }) => `${messageId}/${consumer}: ${state}`),
  };
}

export const nothingStored: Stored = { payments: [], jobs: [], outbox: [], inbox: [] };

export async function receiptOf({ orm }: Pick<World, 'orm'>, messageId = 'm-1', consumer = 'billing') {
  return orm.em.fork({ disableContextResolution: true }).findOneOrFail(InboxMessage, { messageId, consumer });
}

export async function outboxOf({ orm }: Pick<World, 'orm'>, id: string) {
  return orm.em.fork({ disableContextResolution: true }).findOneOrFail(OutboxMessage, { id });
}

/** Puts a receipt there as another delivery left it. */
export async function leaveReceipt(
  world: Pick<World, 'orm' | 'unitOfWork' | 'time'>,
  columns: Readonly<Record<string, unknown>>,
) {
  await world.unitOfWork.consume(aMessage(), 'billing', async () => {});
  if (Object.keys(columns).length === 0) return;
  const sets = Object.keys(columns).map(column => `${column} = ?`);
  await world.orm.em
    .fork()
    .execute(
      `update durable_inbox_message set ${sets.join(', ')} where message_id = 'm-1' and consumer = 'billing'`,
      Object.values(columns),
    );
}

export function inMs(time: ManualTime, ms: number): Micros {
  return time.now() + ms * 1000;
}

/** A promise that a test resolves by hand. */
export function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>(open => (resolve = open));

  return { promise, resolve };
}

function plain(message: string): string {
  return message
    .replaceAll(/\u001b\[\d+m/g, '')
    .replace(/^\[query\] /, '')
    .replace(/ \[took .*$/s, '');
}
