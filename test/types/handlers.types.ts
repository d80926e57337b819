// What a handler is given and may return. Compiled by both type checks, never run.
import {
  AttemptAbortedError,
  JobsError,
  PermanentError,
  RetryAfterError,
  SnoozeError,
  type AbortWhy,
  type JobHandler,
  type RegisteredHandler,
} from '../../src/index.ts';
import { makeJobs, sendInvoice, sendInvoiceV1, type PgEntityManager } from './hosts.ts';
import { expectType } from './same-type.ts';

/** In a file of its own, with the EntityManager that it needs. */
export const inAFile: JobHandler<typeof sendInvoice, PgEntityManager> = async job => {
  await job.em.execute(job.payload.invoiceId);
};
export const onAnyDatabase: JobHandler<typeof sendInvoiceV1> = job => `invoice/${job.payload.id}`;

export async function handlers(): Promise<void> {
  const { core, pg, sqlite } = makeJobs();

  const executor = pg.executor({
    concurrency: 10, queues: ['mail'], drainTimeout: '30s', abortGrace: 5000, pollInterval: '1s', lease: false, name: 'mailer',
    handlers: [
      pg.handler(sendInvoice, async job => {
        expectType<{ invoiceId: string; due: Date; copies: number }>()(job.payload);
        expectType<Date>()(job.scheduledFor);
        job.em satisfies PgEntityManager;
        job.progress(10, 'asking');
        await job.em.execute('select 1');
        const reference = await job.transactional(async em => {
          await em.flush();
          em satisfies PgEntityManager;
          await pg.stage(em, sendInvoiceV1.create({ id: 1 }));
          return `file-${job.attempt}`;
        });
        expectType<`file-${number}`>()(reference);
      }),
      pg.handler(sendInvoice, async job => job.transactional(async em => em.flush())),
      pg.handler(sendInvoice, async () => 'file-1'),
      pg.handler(sendInvoice, () => 'file-1'),
      pg.handler(sendInvoice, () => {}),
      pg.handler(sendInvoice, inAFile),
      pg.handler(sendInvoiceV1, onAnyDatabase),
      pg.handler(sendInvoiceV1, ({ payload: { id } }) => void (id satisfies number)),
      pg.handler(sendInvoiceV1, async (): Promise<string | void> => {}),
    ],
  }); // prettier-ignore
  await executor.start();
  await executor.stop();

  // A list is of one type whatever its payloads; handlers written for PostgreSQL may be tested elsewhere.
  const list: RegisteredHandler<PgEntityManager>[] = [pg.handler(sendInvoice, inAFile), pg.handler(sendInvoiceV1, onAnyDatabase)];
  core.executor({ handlers: list });
  sqlite.executor({ handlers: list });
  core.executor({ handlers: [...list, pg.handler(sendInvoiceV1, () => {}), core.handler(sendInvoiceV1, onAnyDatabase)] });
} // prettier-ignore

export function wrongHandlers(): void {
  const { pg, core } = makeJobs();
  // @ts-expect-error an object is not a result reference
  pg.handler(sendInvoice, async () => ({ ok: true }));
  // @ts-expect-error nor is a number
  pg.handler(sendInvoice, () => 5);
  // @ts-expect-error nor null
  pg.handler(sendInvoice, async () => null);
  // @ts-expect-error an object is not a result reference in a transaction either
  pg.handler(sendInvoice, job => job.transactional(async () => ({ ok: true })));
  // @ts-expect-error a transaction is asynchronous
  pg.handler(sendInvoice, job => job.transactional(() => 'x'));
  // @ts-expect-error the handler of another payload
  pg.handler(sendInvoiceV1, inAFile);
  // @ts-expect-error another payload
  pg.handler(sendInvoiceV1, (job: { payload: { id: string } }) => job.payload.id);
  // @ts-expect-error core's EntityManager has no SQL
  core.handler(sendInvoice, async job => void (await job.em.execute('select 1')));
  // @ts-expect-error a name is no definition
  pg.handler('invoice.send', () => {});
  // @ts-expect-error a handler is a function
  pg.handler(sendInvoice, { handle: () => {} });
}

export function wrongExecutors(): void {
  const { pg } = makeJobs();
  const handlers = [pg.handler(sendInvoice, inAFile)];
  // @ts-expect-error no handlers
  pg.executor({ concurrency: 5 });
  // @ts-expect-error functions alone
  pg.executor({ handlers: [inAFile] });
  // @ts-expect-error a number
  pg.executor({ handlers, concurrency: '5' });
  // @ts-expect-error no duration
  pg.executor({ handlers, drainTimeout: '30 parsecs' });
  // @ts-expect-error a duration, or `false`
  pg.executor({ handlers, lease: true });
  // @ts-expect-error no duration
  pg.executor({ handlers, clockSkew: 'none' });
  // @ts-expect-error an unknown option
  pg.executor({ handlers, concurency: 5 });
}

interface Charge {
  id: string;
  at: Date;
  lines: { cents: number; note?: string }[];
}
declare function charge(): Promise<Charge>;

export function once(): void {
  const { pg } = makeJobs();
  pg.handler(sendInvoice, async job => {
    const charged = await job.once('charge', { ttl: '30d', claimTtl: 60_000 }, charge);
    expectType<string>()(charged.id);
    expectType<string>()(charged.at);
    expectType<{ cents: number; note?: string }[]>()(charged.lines);
    expectType<void>()(await job.once('mail', { ttl: 1000 }, async () => {}));
    expectType<'sent' | null>()(await job.once('mail', { ttl: '1h' }, async () => 'sent' as 'sent' | null));
    expectType<unknown>()(await job.once('mail', { ttl: '1h' }, async () => job.payload as unknown));
    await job.once('any', { ttl: '1h' }, async () => JSON.parse('{}')).then(value => value.anything.at.all);
    // @ts-expect-error how long is the result kept?
    await job.once('charge', {}, charge);
    // @ts-expect-error no duration
    await job.once('charge', { ttl: 'long' }, charge);
    // @ts-expect-error an unknown option
    await job.once('charge', { ttl: '1h', tll: '1h' }, charge);
    // @ts-expect-error a key is text
    await job.once(5, { ttl: '1h' }, charge);
    // @ts-expect-error work is called, and not before the key is claimed
    await job.once('charge', { ttl: '1h' }, charge());
    // @ts-expect-error a function does not survive JSON
    (await job.once('charge', { ttl: '1h' }, async () => ({ refund: () => 1 }))).refund();
  });
} // prettier-ignore

export function wrongUses(): void {
  const { pg } = makeJobs();
  pg.handler(sendInvoice, job => {
    // @ts-expect-error a running job is for reading
    job.payload = { invoiceId: 'x', due: new Date(), copies: 1 };
    // @ts-expect-error progress is a number
    job.progress('10%');
    // @ts-expect-error the handler never sees its token
    void job.token;
  });
}

export function thrown(reason: unknown): void {
  void [new PermanentError('declined'), new PermanentError('declined', { cause: reason })];
  void [new RetryAfterError('1m'), new RetryAfterError(new Date(), 'busy', { cause: reason }), new SnoozeError(5000)];
  if (reason instanceof AttemptAbortedError) {
    expectType<AbortWhy>()(reason.why);
    expectType<'ATTEMPT_ABORTED'>()(reason.code);
  }
  // @ts-expect-error no duration
  void new SnoozeError('5 parsecs');
  // @ts-expect-error until when?
  void new RetryAfterError();
  // @ts-expect-error only what extends it can be made
  void new JobsError('x');
}
