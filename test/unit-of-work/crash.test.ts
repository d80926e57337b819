import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Jobs } from '../../src/jobs.ts';
import { spawnNode, type Child } from '../support/child.ts';
import { createOrm, dbNameOf, dropOrm, forEachDriver, type TestOrm } from '../support/orm.ts';
import { aMessage, entities, handled, handleOrder, nothingStored, stored, type Em } from './world.ts';

forEachDriver(driver => {
  let orm: TestOrm;
  let child: Child;

  beforeEach(async () => {
    orm = await createOrm(driver, entities, { file: true });
  });

  afterEach(async () => {
    await child.kill();
    await dropOrm(orm);
  });

  const unitOfWorkIn = (ms: number) =>
    new Jobs<Em>({ orm, clock: { now: () => (Date.now() + ms) * 1000 }, unitOfWork: { busyWait: 0 } }).unitOfWork;
  const consumeIn = async (ms: number) => (await unitOfWorkIn(ms).consume(aMessage(), 'billing', handleOrder)).outcome;

  test.each(['between acquiring and work', 'inside of work', 'before the commit'])(
    'a process killed %s leaves nothing but the receipt, and the redelivery has each effect once',
    async barrier => {
      child = spawnNode('test/unit-of-work/crash-child.ts', [driver, dbNameOf(orm), barrier]);
      await child.line('at the barrier');
      await child.kill();

      expect(await stored({ orm })).toEqual({ ...nothingStored, inbox: ['m-1/billing: processing'] });
      expect(await consumeIn(0)).toBe('busy');
      expect(await consumeIn(61_000)).toBe('processed');
      expect(await consumeIn(61_000)).toBe('already_processed');
      expect(await stored({ orm })).toEqual(handled);
    },
  );

  test('a process killed after the commit, before it acknowledged, has left everything, and the redelivery adds nothing', async () => {
    child = spawnNode('test/unit-of-work/crash-child.ts', [driver, dbNameOf(orm), 'after the commit']);
    await child.line('at the barrier');
    await child.kill();

    expect(await stored({ orm })).toEqual(handled);
    expect(await consumeIn(0)).toBe('already_processed');
    expect(await stored({ orm })).toEqual(handled);
  });
});
