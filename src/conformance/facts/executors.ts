import { assert } from '../assert.ts';
import { assertHas, idsOf, settled, started } from '../arrange.ts';
import { anExecutor, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const executorsListed = group('Lists of executors', [
  fact('executors are listed with the latest first, and with what they run', async on => {
    on.clock.advance(1000);
    const leaseUntil = on.clock.now() + 60_000_000;
    const metadata = { definitions: [{ name: 'mail.send', version: '1' }], queues: ['slow'], concurrency: 5 };
    await on.store.register(anExecutor({ id: 'second', name: 'mails', host: 'beta', leaseUntil, metadata }));
    await started(on, {}, 'second');
    await settled(on, succeeded(await started(on, {}, 'second')));

    const [second, first] = await on.store.executors({ onlyActive: true });

    assertHas(second, {
      id: 'second',
      name: 'mails',
      host: 'beta',
      state: 'active',
      leaseUntil: new Date(leaseUntil / 1000),
      startedAt: on.clock.date(),
      ...metadata,
      running: 1,
    });
    assertHas(first, {
      id: 'executor-1',
      leaseUntil: null,
      definitions: null,
      queues: null,
      concurrency: null,
      running: 0,
    });
  }),

  fact('executors that have stopped or lapsed are listed only when asked for', async on => {
    await on.store.register(anExecutor({ id: 'stopped' }));
    await on.store.register(anExecutor({ id: 'lapsed', leaseUntil: on.clock.now() + 1 }));
    await on.store.retire('stopped');
    on.clock.advance(1);
    await on.store.recoverLapsed(10);

    assert.deepEqual(idsOf(await on.store.executors({ onlyActive: true })), ['executor-1']);
    const all = await on.store.executors({ onlyActive: false });
    assert.deepEqual(
      new Map(all.map(({ id, state }) => [id, state])),
      new Map([
        ['executor-1', 'active'],
        ['stopped', 'stopped'],
        ['lapsed', 'lapsed'],
      ]),
    );
  }),

  fact('a renewal is seen in the list of executors', async on => {
    await on.store.register(anExecutor({ id: 'leased', leaseUntil: on.clock.now() + 1_000_000 }));
    await on.store.renew('leased', on.clock.now() + 5_000_000);

    const leased = (await on.store.executors({ onlyActive: true })).find(({ id }) => id === 'leased');

    assert.equal(leased?.leaseUntil?.getTime(), on.clock.date().getTime() + 5000);
  }),
]);
