import { expect, test } from '@jest/globals';
import type { Pool, PoolClient } from 'pg';
import { drivers, dropOrm, type TestOrm } from '../support/orm.ts';
import { aMessage, createWorld, handled, handleOrder, nothingStored, stored } from './world.ts';

if (drivers.includes('postgresql')) {
  test('a connection that is cut before the commit leaves nothing but a counted failure, and the next try handles the message', async () => {
    const world = await createWorld('postgresql');
    await giveBackCutConnections(world.orm);

    const consumed = await world.unitOfWork.consume(aMessage(), 'billing', async unit => {
      await handleOrder(unit);
      await unit.em.flush();
      const [row] = await unit.em.execute<{ pid: number }[]>('select pg_backend_pid() as pid');
      await world.orm.em.fork({ disableContextResolution: true }).execute('select pg_terminate_backend(?)', [row!.pid]);
    });

    expect(consumed).toMatchObject({ outcome: 'failed', reply: 'requeue' });
    expect(await stored(world)).toEqual({ ...nothingStored, inbox: ['m-1/billing: failed'] });
    world.time.advance(2000);
    expect((await world.unitOfWork.consume(aMessage(), 'billing', handleOrder)).outcome).toBe('processed');
    expect(await stored(world)).toEqual(handled);
    await dropOrm(world.orm);
  });
} else {
  test('SQLite has no connection that could be cut', () => expect(drivers).toEqual(['sqlite']));
}

/** MikroORM 7 never gives one back to its pool, and waits for it when it is closed. */
async function giveBackCutConnections(orm: TestOrm): Promise<void> {
  const connection = orm.em.getConnection() as unknown as { getNativeClient?(): Promise<Pool> };
  const pool = await connection.getNativeClient?.();
  const [known, inUse] = [new Set<PoolClient>(), new Set<PoolClient>()];

  pool?.on('release', (_, client) => inUse.delete(client));
  pool?.on('acquire', client => {
    inUse.add(client);
    if (!known.has(client)) client.once('end', () => inUse.has(client) && client.release(true));
    known.add(client);
  });
}
