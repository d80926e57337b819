import { expect, test } from '@jest/globals';
import pg from 'pg';
import { defineJob } from '../../src/core/definition.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { latch } from '../executor/support/latch.ts';
import { Log } from '../executor/support/log.ts';
import { spawnNode } from '../support/child.ts';
import { closeOrm, createOrm, dbNameOf, dropOrm, forEachDriver, mikroOrmMajor, openOrm } from '../support/orm.ts';
import { timers } from '../support/timers.ts';
import { until } from '../support/until.ts';

const step = defineJob<object>()({ name: 'step' });

forEachDriver(driver => {
  test('an ORM that is closed right after a submit is closed, and the job is there', async () => {
    const orm = await createOrm(driver, jobEntities, { file: true });
    const submitting = await openOrm(driver, jobEntities, { dbName: dbNameOf(orm) });

    await new Jobs({ orm: submitting, logger: new Log() }).submit(step.create({}));
    await closeOrm(submitting);

    expect(await orm.em.fork().execute('select 1 from durable_job')).toHaveLength(1);
    await dropOrm(orm);
  });

  test('a process that submits and closes its ORM ends by itself, at once', async () => {
    const orm = await createOrm(driver, jobEntities, { file: true });

    const child = spawnNode('test/engine/programs/submit-and-close.ts', [driver, dbNameOf(orm)]);
    const { code } = await child.exited;

    expect([code, child.stderr(), child.stdout()]).toEqual([0, '', 'ended with []\n']);
    await dropOrm(orm);
  }, 45_000);

  // MikroORM 7 connects again.
  if (mikroOrmMajor === 6) {
    test('an executor whose ORM was closed before it stops at once, says so, and keeps no process alive', async () => {
      const timersBefore = timers();
      const [began, gate] = [latch(), latch()];
      const log = new Log();
      // What waits for a closed pool keeps the process alive for so long, whosever it is.
      const hasty = { min: 0, max: 20, acquireTimeoutMillis: 1000 } as object;
      const orm = await createOrm(driver, jobEntities, { file: true });
      const host = await openOrm(driver, jobEntities, { dbName: dbNameOf(orm), pool: hasty });
      const jobs = new Jobs({ orm: host, logger: log, notifications: false });
      const work = async () => (began.open(), gate.opened);
      const executor = jobs.executor({ handlers: [jobs.handler(step, work)] });
      const { job } = await jobs.submit(step.create({}));
      await executor.start();
      await began.opened;

      await closeOrm(host);
      gate.open();
      await executor.stop();

      const [row] = await orm.em.fork().execute('select id, state from durable_job');
      expect(row).toEqual({ id: job.id, state: 'running' });
      expect(log.of('stop_incomplete')).toHaveLength(1);
      await dropOrm(orm);
      await until(() => timers() <= timersBefore);
    }, 15_000);
  }

  // Only there is the pool one that a test can hold up; it is where a close hung.
  if (driver !== 'postgresql' || mikroOrmMajor === 6) {
    return;
  }

  test('an ORM that is closed while a notification still connects is closed, and the notification is given up or sent', async () => {
    const [notified, connecting, gate] = [latch(), latch(), latch()];
    let held = Infinity;
    class HeldClient extends pg.Client {
      override connect(...callback: unknown[]): never {
        const isHeld = held-- <= 0;
        const connected = isHeld ? (connecting.open(), gate.opened) : Promise.resolve();
        return void connected.then(() => super.connect(...(callback as [never]))) as never;
      }

      override query(...given: unknown[]): never {
        if (String(given[0]).includes('pg_notify')) notified.open();
        return super.query(...(given as [string])) as never;
      }
    }
    const orm = await createOrm(driver, jobEntities);
    // Every statement has a new connection, so the notification has one too.
    const driverOptions = { maxUses: 1, Client: HeldClient };
    const submitting = await openOrm(driver, jobEntities, { dbName: dbNameOf(orm), driverOptions } as never);
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
  });
});
