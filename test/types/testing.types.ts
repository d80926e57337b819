import type { EntityManager as CoreEntityManager } from '@mikro-orm/core';
import { MemoryJobs } from '../../src/memory/index.ts';
import { testJobs } from '../../src/testing/index.ts';
import { coreOrm, makeJobs, pgOrm, sendInvoice, sendInvoiceV1, sqliteOrm } from './hosts.ts';

export async function use(core: CoreEntityManager): Promise<void> {
  const { core: coreJobs, pg, sqlite } = makeJobs();
  testJobs(coreJobs);
  const kit = testJobs(pg);

  const [invoice] = await kit.staged(pgOrm.em, sendInvoice);
  const due: Date = invoice!.payload.due;
  const [first] = await kit.staged(core, sendInvoiceV1);
  const id: number = first!.payload.id;
  const [any] = await kit.staged(sqliteOrm.em);
  // @ts-expect-error without a definition nothing is known of it
  void any!.payload.id;

  // Handlers that were written for PostgreSQL are tested on SQLite.
  const { succeeded, rescheduled, nextDueAt } = await testJobs(sqlite).drain({
    em: sqliteOrm.em,
    handlers: [pg.handler(sendInvoice, () => {})],
  });
  const total: number = succeeded + rescheduled;
  const at: Date | null = nextDueAt;
  kit.clock.advance('1h');
  // @ts-expect-error not a duration
  kit.clock.advance('an hour');
  // @ts-expect-error no handlers
  await kit.drain({ em: coreOrm.em });

  const memory = testJobs(new MemoryJobs());
  await memory.staged(undefined, sendInvoice);
  // @ts-expect-error there is no transaction in memory
  await memory.staged(core, sendInvoice);
  void [due, id, total, at];
}
