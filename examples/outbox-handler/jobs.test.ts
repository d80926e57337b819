// How an application tests its jobs, in any test runner: npm run example:test
import type { EntityManager, MikroORM } from '@mikro-orm/core';
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Jobs } from '../../src/index.ts';
import { testJobs, type TestKit } from '../../src/testing/index.ts';
import { openMemory, prepare } from './database.ts';
import { Order, Payment } from './entities.ts';
import { askForRating, chargeCard, handlersOf, mailReceipt, remindToPay } from './jobs.ts';
import { handle } from './messages.ts';

let orm: MikroORM;
let jobs: Jobs;
let kit: TestKit<EntityManager>;

before(async () => {
  orm = await openMemory();
  await prepare(orm, { fresh: false });
  jobs = new Jobs({ orm });
});
beforeEach(() => {
  kit = testJobs(jobs);
});
after(() => orm.close());

test('a charge books the payment, and its receipt is mailed when the mail server is busy no more', async () => {
  await rolledBack(async em => {
    await jobs.stage(em, chargeCard.create({ order: 'order-1', card: 'visa', cents: 700 }));

    const { succeeded, rescheduled, errors } = await kit.drain({ em, handlers: handlersOf(jobs) });
    assert.deepEqual([succeeded, rescheduled], [1, 1]);
    assert.match(String(errors[0]?.error), /mail server is busy/);
    assert.equal(await em.count(Payment, { order: 'order-1', payBy: 'card' }), 1);

    kit.clock.advance('200ms');
    await kit.drain({ em, handlers: handlersOf(jobs) });
    const [receipt] = await kit.staged(em, mailReceipt);
    assert.equal(receipt?.resultRef, 'mail/order-1');
  });

  assert.equal(await orm.em.fork().count(Payment), 0);
});

test('an expired card is not charged again', async () => {
  await rolledBack(async em => {
    await jobs.stage(em, chargeCard.create({ order: 'order-1', card: 'expired', cents: 700 }));

    const { failed, errors } = await kit.drain({ em, handlers: handlersOf(jobs) });
    assert.equal(failed, 1);
    assert.match(String(errors[0]?.error), /has expired/);
  });
});

test('whoever pays an invoice is not reminded of it', async () => {
  // The unit of work opens the outermost transaction, so this is committed.
  const lines = [{ text: 'a book', cents: 700 }];
  await deliver('m-1', 'order.placed', { order: 'order-2', customer: 'Ann', lines });
  assert.equal((await kit.staged(orm.em.fork(), remindToPay)).length, 1);
  assert.equal((await kit.staged(orm.em.fork(), askForRating)).length, 0);

  await deliver('m-2', 'invoice.paid', { order: 'order-2', cents: 700 });
  assert.equal((await kit.drain({ handlers: handlersOf(jobs) })).succeeded, 1);

  kit.clock.advance('15d');
  assert.equal((await kit.drain({ handlers: handlersOf(jobs) })).succeeded, 0);
  assert.equal(await orm.em.fork().count(Order), 1);
});

function deliver(id: string, name: string, content: object) {
  return handle(jobs, { id, name, version: '1', content: JSON.stringify(content) });
}

/** Runs `work` in a transaction, of which nothing remains. */
async function rolledBack(work: (em: EntityManager) => Promise<void>): Promise<void> {
  const em = orm.em.fork();
  await em.begin();
  try {
    await work(em);
  } finally {
    await em.rollback();
  }
}
