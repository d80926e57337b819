// What a unit of work takes and answers. Compiled by both type checks, never run.
import type { Consumed, Message, StageResult, Unit } from '../../src/index.ts';
import { makeJobs, sendInvoice, type PgEntityManager } from './hosts.ts';
import { expectType } from './same-type.ts';

interface Delivery {
  ack(): void;
  requeue(): void;
  reject(): void;
}

const submission = sendInvoice.create({ invoiceId: 'x', due: new Date() });
const message: Message = { id: 'm-1', name: 'order.paid', version: '1', content: '{}' };

export async function executing(signal: AbortSignal): Promise<void> {
  const { pg } = makeJobs();
  const count = await pg.unitOfWork.execute(
    async unit => {
      unit satisfies Unit<PgEntityManager>;
      await unit.em.execute('select 1');
      unit.outbox.add(message, { destination: 'billing', sendBefore: new Date() });
      expectType<StageResult>()(await unit.stage(submission));
      expectType<StageResult[]>()(await unit.stage([submission]));
      return 5;
    },
    { signal },
  );
  expectType<number>()(count);
}

export async function consuming(delivery: Delivery, signal: AbortSignal): Promise<void> {
  const { pg } = makeJobs();
  const consumed = await pg.unitOfWork.consume(message, 'billing', async unit => unit.em.flush(), { signal });
  delivery[consumed.reply]();
  if (consumed.outcome === 'failed') {
    expectType<Date>()(consumed.retryAt);
    expectType<'requeue'>()(consumed.reply);
    expectType<unknown>()(consumed.error);
  }
  if (consumed.outcome === 'processed') {
    // @ts-expect-error nothing to come back to
    void consumed.retryAt;
  }
}

/** A switch over the outcomes is closed. */
export function replyFor(consumed: Consumed): 'ack' | 'requeue' | 'reject' {
  switch (consumed.outcome) {
    case 'processed':
    case 'already_processed':
      return consumed.reply satisfies 'ack';
    case 'busy':
    case 'snoozed':
    case 'lost':
    case 'aborted':
    case 'failed':
      return consumed.reply satisfies 'requeue';
    case 'dead_lettered':
      return consumed.reply satisfies 'reject';
  }
}

export async function wrongUses(): Promise<void> {
  const { pg } = makeJobs();
  // @ts-expect-error which consumer?
  await pg.unitOfWork.consume(message, async () => {});
  // @ts-expect-error content is text
  await pg.unitOfWork.consume({ ...message, content: {} }, 'billing', async () => {});
  // @ts-expect-error a consumer's work answers nothing; the outcome is the answer
  await pg.unitOfWork.consume(message, 'billing', async () => 5);
  // @ts-expect-error work is asynchronous
  await pg.unitOfWork.execute(() => 5);
  await pg.unitOfWork.execute(async unit => {
    // @ts-expect-error a unit stages in its own transaction
    await unit.stage(unit.em, submission);
    // @ts-expect-error a message has a version
    unit.outbox.add({ id: 'm-2', name: 'a', content: '' });
  });
}
