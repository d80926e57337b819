import { assert } from '../assert.ts';
import { defineJob } from '../../core/definition.ts';
import { idsOf, only, submitted } from '../arrange.ts';
import { aClaim, buildReport, sendMail, someSubmissions } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

/** A store may remember where a claim found as much as was asked for; what has changed since counts all the same. */
export const claimsInARow = group('Claims in a row', [
  fact('a pause holds for an executor whose last claim came back full', async on => {
    await fullClaim(on);

    await on.queues.setQueuePaused('mails', true, null);
    assert.deepEqual((await on.store.claim(aClaim({ limit: 1 }))).attempts, []);

    await on.queues.setQueuePaused('mails', false, null);
    only((await on.store.claim(aClaim({ limit: 1 }))).attempts);
  }),

  fact('a cap holds for an executor whose last claim came back full', async on => {
    await fullClaim(on);

    await on.queues.setQueueLimit('mails', 1, null);
    assert.deepEqual(await on.store.claim(aClaim({ limit: 1 })), { attempts: [], nextDueAt: null, isHeldBack: true });

    await on.queues.setQueueLimit('mails', 2, null);
    only((await on.store.claim(aClaim({ limit: 1 }))).attempts);
  }),

  fact('an executor that stops after a full claim starts nothing more', async on => {
    await fullClaim(on);
    await on.store.retire('executor-1');

    assert.deepEqual((await on.store.claim(aClaim({ limit: 1 }))).attempts, []);
  }),

  fact('each claim is for its own queues and definitions, whatever the last one was for', async on => {
    await fullClaim(on);
    const other = await submitted(on, { definition: buildReport });

    assert.deepEqual((await on.store.claim(aClaim({ queues: ['default'], limit: 1 }))).attempts, []);
    const { attempts } = await on.store.claim(aClaim({ definitions: [buildReport], limit: 1 }));
    assert.deepEqual(idsOf(attempts), [other.id]);
  }),

  fact('a claim gives nothing that becomes due after it, and the next one does', async on => {
    await fullClaim(on);
    await on.store.claim(aClaim({ limit: 2 }));
    const later = await submitted(on, { queue: 'mails', notBefore: new Date(on.clock.date().getTime() + 1) });

    assert.deepEqual((await on.store.claim(aClaim({ limit: 1 }))).attempts, []);
    on.clock.advance(1);
    assert.deepEqual(idsOf((await on.store.claim(aClaim({ limit: 1 }))).attempts), [later.id]);
  }),

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

/** Takes one of three jobs of the queue `mails`, as many as it asks for. */
async function fullClaim({ store }: FactContext): Promise<void> {
  await store.submit(someSubmissions(3, { queue: 'mails' }));
  only((await store.claim(aClaim({ definitions: [sendMail], limit: 1 }))).attempts);
}

async function countOfNext({ store }: FactContext): Promise<number> {
  return (await store.claim(aClaim({ limit: 1 }))).attempts.length;
}
