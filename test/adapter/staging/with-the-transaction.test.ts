import { describe, expect, test } from '@jest/globals';
import type { Pool } from 'pg';
import { aSubmission, someSubmissions } from '../../support/builders.ts';
import { forEachDriver, mikroOrmMajor } from '../../support/orm.ts';
import { jobIds, openHost, orderIds, useHost, type Host } from './host.ts';
import { anOrder } from './order.ts';

forEachDriver(driver => {
  const host = useHost(driver);

  test('a staged job is there when the transaction has committed, with what was written beside it', async () => {
    const result = await host.orm.em.fork().transactional(async em => {
      em.persist(anOrder('order-1'));
      return host.jobs.stage(em, aSubmission({ id: 'job-1' }));
    });

    expect(result).toMatchObject({ created: true, matched: 'none', job: { id: 'job-1', state: 'queued' } });
    expect(await stored(host)).toEqual({ jobs: ['job-1'], orders: ['order-1'] });
  });

  test('it vanishes with a transaction whose callback throws', async () => {
    const failed = host.orm.em.fork().transactional(async em => {
      em.persist(anOrder('order-1'));
      await host.jobs.stage(em, aSubmission());
      throw new Error('the card was declined');
    });

    await expect(failed).rejects.toThrow('the card was declined');
    expect(await stored(host)).toEqual({ jobs: [], orders: [] });
  });

  test('it vanishes with rollback(), and no later flush or transaction of that EntityManager revives it', async () => {
    const em = host.orm.em.fork();
    await em.begin();
    await host.jobs.stage(em, aSubmission());
    await em.rollback();

    await em.persist(anOrder('order-1')).flush();
    await em.transactional(async tx => void tx.persist(anOrder('order-2')));

    expect(await stored(host)).toEqual({ jobs: [], orders: ['order-1', 'order-2'] });
  });

  test('it can be staged again after a rollback, and is then created', async () => {
    const em = host.orm.em.fork();
    const submission = aSubmission({ id: 'job-1' });
    await em.begin();
    await host.jobs.stage(em, submission);
    await em.rollback();

    await em.begin();
    const again = await host.jobs.stage(em, submission);
    await em.commit();

    expect(again).toMatchObject({ created: true, matched: 'none' });
    expect(await jobIds(host)).toEqual(['job-1']);
  });

  test('it vanishes with a flush that fails at the commit', async () => {
    await host.orm.em.fork().persist(anOrder('order-1')).flush();

    const failed = host.orm.em.fork().transactional(async em => {
      await host.jobs.stage(em, aSubmission());
      em.persist(anOrder('order-1', 'a second one'));
    });

    await expect(failed).rejects.toMatchObject({ name: 'UniqueConstraintViolationException' });
    expect(await stored(host)).toEqual({ jobs: [], orders: ['order-1'] });
  });

  test('it vanishes with a transaction that the host rolls back after a failed flush, to use the EntityManager again', async () => {
    await host.orm.em.fork().persist(anOrder('order-1')).flush();
    const em = host.orm.em.fork();

    await em.begin();
    await host.jobs.stage(em, aSubmission());
    await expect(em.persist(anOrder('order-1')).flush()).rejects.toMatchObject({
      name: 'UniqueConstraintViolationException',
    });
    await em.rollback();
    em.clear();
    await em.persist(anOrder('order-2')).flush();

    expect(await stored(host)).toEqual({ jobs: [], orders: ['order-1', 'order-2'] });
  });

  describe('with savepoints', () => {
    test('a job vanishes with its savepoint, and the rest commits', async () => {
      await host.orm.em.fork().transactional(async outer => {
        await host.jobs.stage(outer, aSubmission({ id: 'before' }));
        await outer
          .transactional(async inner => {
            inner.persist(anOrder('order-1'));
            await host.jobs.stage(inner, aSubmission({ id: 'inside' }));
            throw new Error('inner failed');
          })
          .catch(() => {});
        await host.jobs.stage(outer, aSubmission({ id: 'after' }));
        outer.persist(anOrder('order-2'));
      });

      expect(await stored(host)).toEqual({ jobs: ['after', 'before'], orders: ['order-2'] });
    });

    test('a job of a released savepoint vanishes with the outer transaction', async () => {
      const failed = host.orm.em.fork().transactional(async outer => {
        await outer.transactional(inner => host.jobs.stage(inner, aSubmission()));
        throw new Error('outer failed');
      });

      await expect(failed).rejects.toThrow('outer failed');
      expect(await jobIds(host)).toEqual([]);
    });

    test('what a rolled-back savepoint took away is created when it is staged again', async () => {
      const submission = aSubmission({ id: 'job-1' });

      const again = await host.orm.em.fork().transactional(async outer => {
        await outer
          .transactional(async inner => {
            await host.jobs.stage(inner, submission);
            throw new Error('inner failed');
          })
          .catch(() => {});
        return host.jobs.stage(outer, submission);
      });

      expect(again).toMatchObject({ created: true, matched: 'none' });
      expect(await jobIds(host)).toEqual(['job-1']);
    });

    test('a job staged before a savepoint is found inside of it', async () => {
      const submission = aSubmission({ id: 'job-1' });

      const again = await host.orm.em.fork().transactional(async outer => {
        await host.jobs.stage(outer, submission);
        return outer.transactional(inner => host.jobs.stage(inner, submission));
      });

      expect(again).toMatchObject({ created: false, matched: 'identity' });
      expect(await jobIds(host)).toEqual(['job-1']);
    });
  });

  test('three levels of savepoints keep exactly what was committed up to the top', async () => {
    await host.orm.em.fork().transactional(async first => {
      await first.transactional(async second => {
        await host.jobs.stage(second, aSubmission({ id: 'second' }));
        await second
          .transactional(async third => {
            await third.transactional(fourth => host.jobs.stage(fourth, aSubmission({ id: 'fourth' })));
            throw new Error('third failed');
          })
          .catch(() => {});
      });
    });

    expect(await jobIds(host)).toEqual(['second']);
  });

  test('an error that the host swallows leaves job and business row together: both or neither', async () => {
    await host.orm.em.fork().persist(anOrder('order-1')).flush();

    await host.orm.em
      .fork()
      .transactional(async em => {
        await em.execute('insert into order_ (id) values (?)', ['order-2']);
        await host.jobs.stage(em, aSubmission({ id: 'job-1' }));
        await em.execute('insert into order_ (id) values (?)', ['order-1']).catch(() => {});
      })
      .catch(() => {});

    const { jobs, orders } = await stored(host);
    expect(jobs.includes('job-1')).toBe(orders.includes('order-2'));
    expect(jobs).toHaveLength(driver === 'postgresql' ? 0 : 1);
  });

  if (driver === 'postgresql') {
    test('stage() after an error that the host swallowed fails, and saves nothing', async () => {
      const failed = host.orm.em.fork().transactional(async em => {
        await em.execute('select 1 / 0').catch(() => {});
        await host.jobs.stage(em, aSubmission());
      });

      await expect(failed).rejects.toMatchObject({ code: '25P02' });
      expect(await jobIds(host)).toEqual([]);
    });

    test('it vanishes with a COMMIT that fails on a deferred constraint', async () => {
      await host.orm.em.execute('create table deferred_ (id varchar primary key deferrable initially deferred)');

      const failed = host.orm.em.fork().transactional(async em => {
        await host.jobs.stage(em, someSubmissions(3));
        em.persist(anOrder('order-1'));
        await em.execute(`insert into deferred_ values ('a'), ('a')`);
      });

      await expect(failed).rejects.toMatchObject({ code: '23505' });
      expect(await stored(host)).toEqual({ jobs: [], orders: [] });
    });

    test('it vanishes with a connection that is cut before COMMIT', async () => {
      const cut = await openHost(host);
      await forgetCutConnections(cut);

      const failed = cut.orm.em.fork().transactional(async em => {
        await cut.jobs.stage(em, aSubmission());
        const [{ pid }]: [{ pid: number }] = await em.execute('select pg_backend_pid() as pid');
        await host.orm.em.fork({ disableContextResolution: true }).execute('select pg_terminate_backend(?)', [pid]);
        await em.persist(anOrder('order-1')).flush();
      });

      await expect(failed).rejects.toThrow();
      expect(await stored(host)).toEqual({ jobs: [], orders: [] });
    });
  }
});

async function stored(host: Host): Promise<{ jobs: string[]; orders: string[] }> {
  return { jobs: await jobIds(host), orders: await orderIds(host) };
}

/** MikroORM 7 keeps the slot of a connection that was cut inside a transaction, and waits for it when it is closed. */
async function forgetCutConnections({ orm }: Host): Promise<void> {
  if (mikroOrmMajor === 6) return;
  const connection = orm.em.getConnection() as unknown as { getNativeClient(): Promise<Pool> };

  (await connection.getNativeClient()).on('acquire', client => client.once('end', () => client.release(true)));
}
