import type { EntityManager as CoreEntityManager, MikroORM as CoreOrm } from '@mikro-orm/core';
import type { EntityManager as PgEntityManager, MikroORM as PgOrm } from '@mikro-orm/postgresql';
import type { EntityManager as SqliteEntityManager, MikroORM as SqliteOrm } from '@mikro-orm/sqlite';
import { z } from 'zod';
import { defineJob, Jobs } from '../../src/index.ts';

export type { CoreEntityManager, PgEntityManager, SqliteEntityManager };

export declare const coreOrm: CoreOrm;
export declare const pgOrm: PgOrm;
export declare const sqliteOrm: SqliteOrm;

export const makeJobs = () => ({
  core: new Jobs({ orm: coreOrm }),
  pg: new Jobs({ orm: pgOrm }),
  sqlite: new Jobs({ orm: sqliteOrm }),
});

export const sendInvoice = defineJob({
  name: 'invoice.send',
  version: '2',
  queue: 'mail',
  schema: z.object({ invoiceId: z.string(), due: z.coerce.date(), copies: z.number().default(1) }),
});
export const sendInvoiceV1 = defineJob<{ id: number }>()({ name: 'invoice.send', version: '1' });
