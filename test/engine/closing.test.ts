import { expect, test } from '@jest/globals';
import pg from 'pg';
import { defineJob } from '../../src/core/definition.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { latch } from '../executor/support/latch.ts';
import { Log } from '../executor/support/log.ts';
import { closeOrm, createOrm, dbNameOf, drivers, dropOrm, mikroOrmMajor, openOrm } from '../support/orm.ts';

const step = defineJob<object>()({ name: 'step' });

// The pool of MikroORM 6 ends what is connecting.
const isConcerned = drivers.includes('postgresql') && mikroOrmMajor === 7;

(isConcerned ? test : test.skip)(
  'an ORM that is closed while a notification still connects is closed, and the notification is given up or sent',
  async () => {
    const [notified, connecting, gate] = [latch(), latch(), latch()];
    let held = Infinity;
    class HeldClient extends pg.Client {
      override connect(callback?: (error: Error) => void): never {
        const isHeld = held-- <= 0;
        const connected = isHeld ? (connecting.open(), gate.opened) : Promise.resolve();
        return void connected.then(() => super.connect(callback!)) as never;
      }

      override query(...given: unknown[]): never {
        if (String(given[0]).includes('pg_notify')) notified.open();
        return super.query(...(given as [string])) as never;
      }
    }
    const orm = await createOrm('postgresql', jobEntities);
    // Every statement has a new connection, so the notification has one too.
    const driverOptions = { maxUses: 1, Client: HeldClient };
    const submitting = await openOrm('postgresql', jobEntities, { dbName: dbNameOf(orm), driverOptions } as never);
    const jobs = new Jobs({ orm: submitting, logger: new Log() });
    await jobs.submit(step.create({}));
    await notified.opened;

    // The next one is that of the insert.
    held = 1;
    await jobs.submit(step.create({}));
    await connecting.opened;
    const closed = closeOrm(submitting);
    gate.open();
    await closed;

    expect(await orm.em.fork().execute('select 1 from durable_job')).toHaveLength(2);
    await dropOrm(orm);
  },
);
