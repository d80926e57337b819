import { describe, expect, test } from '@jest/globals';
import { aSubmission } from '../../support/builders.ts';
import { dropOrm, forEachDriver, type Driver } from '../../support/orm.ts';
import { createHost, jobIds, orderIds, type Host } from './host.ts';
import { anOrder } from './order.ts';

/** What a trigger of the host's does with a job whose queue is 'guarded'. */
const skipping: Record<Driver, string[]> = {
  sqlite: [
    `create trigger guard before insert on durable_job when new.queue = 'guarded' begin select raise(ignore); end`,
  ],
  postgresql: [
    `create function guard() returns trigger language plpgsql as
     'begin if new.queue = ''guarded'' then return null; end if; return new; end'`,
    'create trigger guard before insert on durable_job for each row execute function guard()',
  ],
};

const raising: Record<Driver, string[]> = {
  sqlite: [
    `create trigger guard before insert on durable_job when new.queue = 'guarded' begin select raise(abort, 'not in my house'); end`,
  ],
  postgresql: [
    `create function guard() returns trigger language plpgsql as
     'begin if new.queue = ''guarded'' then raise exception ''not in my house''; end if; return new; end'`,
    'create trigger guard before insert on durable_job for each row execute function guard()',
  ],
};

const guarded = () => aSubmission({ id: 'guarded', queue: 'guarded' });

forEachDriver(driver => {
  describe('where the database skips a job without a word', () => {
    test('submit() fails with an error that names the job, and stores nothing of its batch', async () => {
      const host = await hostWith(driver, skipping);
      const refused = {
        code: 'INSERT_REFUSED',
        key: { scope: '', id: 'guarded' },
        message: expect.stringContaining('is there a trigger'),
      };

      await expect(host.jobs.submit(guarded())).rejects.toMatchObject(refused);
      await expect(host.jobs.submit([aSubmission(), guarded()])).rejects.toMatchObject(refused);

      expect(await jobIds(host)).toEqual([]);
      await dropOrm(host.orm);
    });

    test('stage() takes back its batch, and leaves the transaction usable', async () => {
      const host = await hostWith(driver, skipping);

      await host.orm.em.fork().transactional(async em => {
        await expect(host.jobs.stage(em, [aSubmission({ id: 'beside' }), guarded()])).rejects.toMatchObject({
          code: 'INSERT_REFUSED',
        });
        await host.jobs.stage(em, aSubmission({ id: 'after' }));
        em.persist(anOrder('order-1'));
      });

      expect([await jobIds(host), await orderIds(host)]).toEqual([['after'], ['order-1']]);
      await dropOrm(host.orm);
    });

    test('so it is with a unique index of the host’s on the table of jobs', async () => {
      const host = await hostWith(driver, {
        sqlite: ['create unique index one_a_queue on durable_job (queue)'],
        postgresql: ['create unique index one_a_queue on durable_job (queue)'],
      });
      await host.jobs.submit(aSubmission({ id: 'first', queue: 'guarded' }));

      await expect(host.jobs.submit(guarded())).rejects.toMatchObject({ code: 'INSERT_REFUSED' });

      expect(await jobIds(host)).toEqual(['first']);
      await dropOrm(host.orm);
    });
  });

  describe('where the database raises an error', () => {
    test('submit() and stage() fail with that error, and nothing is stored', async () => {
      const host = await hostWith(driver, raising);
      const raised = {
        name: expect.stringMatching(/Exception$/),
        code: driver === 'postgresql' ? 'P0001' : expect.stringMatching(/^SQLITE_CONSTRAINT/),
        message: expect.stringContaining('not in my house'),
      };

      await expect(host.jobs.submit(guarded())).rejects.toMatchObject(raised);
      await expect(host.jobs.submit([aSubmission(), guarded()])).rejects.toMatchObject(raised);
      await expect(
        host.orm.em.fork().transactional(em => host.jobs.stage(em, [aSubmission(), guarded()])),
      ).rejects.toMatchObject(raised);

      expect(await jobIds(host)).toEqual([]);
      await dropOrm(host.orm);
    });
  });
});

async function hostWith(driver: Driver, ddl: Record<Driver, string[]>): Promise<Host> {
  const host = await createHost(driver);
  for (const statement of ddl[driver]) await host.orm.em.execute(statement);

  return host;
}
