import { assert } from '../assert.ts';
import { defineJob } from '../../core/definition.ts';
import { idsOf, submitted } from '../arrange.ts';
import { aClaim, sendMail, someSubmissions } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

/** Where a claim gave as much as was asked for, a store may go on without looking at everything again. */
export const claimsAfterFullOnes = group('Claims after full ones', [
  fact('a cap holds also while every claim below it comes back full', async on => {
    await on.queues.setQueueLimit('mails', 2, null);
    await on.store.submit(someSubmissions(4, { queue: 'mails' }));

    assert.deepEqual([await countOfNext(on), await countOfNext(on), await countOfNext(on)], [1, 1, 0]);
  }),

  fact('a claim for another name or version gives nothing of what a full one left', async on => {
    await on.store.submit(someSubmissions(4));
    await countOfNext(on);
    const { name, version } = sendMail;

    for (const given of [
      { name: 'mail.sent', version },
      { name, version: '2' },
    ]) {
      const definition = defineJob<unknown>()(given);
      assert.deepEqual((await on.store.claim(aClaim({ definitions: [definition], limit: 1 }))).attempts, []);
      await countOfNext(on);
    }
  }),

  fact('what is more urgent has its turn, however much full claims have left', async on => {
    await on.store.submit(someSubmissions(4));
    await countOfNext(on);
    const urgent = await submitted(on, { priority: 1 });
    on.clock.advance(1000);

    assert.deepEqual(idsOf((await on.store.claim(aClaim({ limit: 1 }))).attempts), [urgent.id]);
  }),

  fact('full claims say, too, that a cap holds something back', async on => {
    await on.queues.setQueueLimit('mails', 1, null);
    await on.store.submit(someSubmissions(2, { queue: 'mails', priority: 1 }));
    await countOfNext(on);
    await on.store.submit(someSubmissions(3));

    for (let claims = 0; claims < 2; claims++) {
      const { attempts, isHeldBack } = await on.store.claim(aClaim({ limit: 1 }));
      assert.deepEqual([attempts.length, isHeldBack], [1, true]);
    }
  }),
]);

async function countOfNext({ store }: FactContext): Promise<number> {
  return (await store.claim(aClaim({ limit: 1 }))).attempts.length;
}
