import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { dropOrm } from '../support/orm.ts';
import { aMessage, createWorld, nothingStored, Payment, stored, type World } from './world.ts';

let world: World;

beforeEach(async () => {
  world = await createWorld('sqlite');
});

afterEach(() => dropOrm(world.orm));

test('beside a bare begin on the only connection, an execute gives up and its work is never called', async () => {
  const host = world.orm.em.fork();
  await host.begin();
  let isCalled = false;

  const execute = world.unitOfWork.execute(async ({ em }) => {
    isCalled = true;
    em.persist(new Payment('1'));
  });
  await world.time.untilTimer(30_000);
  world.time.advance(30_000);

  await expect(execute).rejects.toMatchObject({ code: 'CONNECTION_TIMEOUT' });
  await host.rollback();
  await world.unitOfWork.execute(async ({ em }) => void em.persist(new Payment('2')));
  expect(isCalled).toBe(false);
  expect(await stored(world)).toEqual({ ...nothingStored, payments: ['2'] });
});

test('beside a bare begin on the only connection, a consume gives up before work', async () => {
  const host = world.orm.em.fork();
  await host.begin();

  const consume = world.unitOfWork.consume(aMessage(), 'billing', () => Promise.reject(new Error('called')));
  await world.time.untilTimer(30_000);
  world.time.advance(30_000);

  await expect(consume).rejects.toMatchObject({ code: 'CONNECTION_TIMEOUT' });
  await host.rollback();
});
