import { assert } from '../assert.ts';
import type { DueLane } from '../../core/due-lane.ts';
import { idsOf, startOf, submitted } from '../arrange.ts';
import { aClaim, aSubmission, buildReport, sendMail, someSubmissions } from '../builders.ts';
import { fact, group } from '../fact.ts';

/** Three jobs, of the queue `mails`, priority 0 and definition `mail.send`, unless something else is said. */
function aLane(given: Partial<DueLane> = {}): DueLane {
  const { name, version } = sendMail;
  return { queue: 'mails', name, version, priority: 0, count: 3, ...given };
}

/** A hint may be late, or tell of what is gone: it says where to look, never what to start. */
export const toldClaims = group('Claims that are told where jobs are', [
  fact('a claim gives what is due where it was told, the most urgent first', async ({ store }) => {
    const [low, high, report] = [
      aSubmission({ queue: 'mails' }),
      aSubmission({ queue: 'mails', priority: 5 }),
      aSubmission({ queue: 'reports', definition: buildReport, priority: 3 }),
    ];
    await store.submit([low, high, report]);
    const { name, version } = buildReport;
    const lanes = [aLane(), aLane({ priority: 5 }), aLane({ queue: 'reports', name, version, priority: 3 })];
    const definitions = [sendMail, buildReport];

    const first = await store.claim(aClaim({ definitions, lanes, limit: 2 }));
    const second = await store.claim(aClaim({ definitions, lanes }));

    assert.deepEqual(idsOf(first.attempts), idsOf([high, report]));
    assert.deepEqual(idsOf(second.attempts), [low.id]);
  }),

  fact('a claim that is told of jobs which are gone, running or not due starts none', async on => {
    await startOf(on, await submitted(on, { queue: 'mails' }));
    await submitted(on, { queue: 'mails', notBefore: new Date(on.clock.date().getTime() + 1) });

    const lanes = [aLane(), aLane({ queue: 'nowhere' })];
    assert.deepEqual((await on.store.claim(aClaim({ lanes }))).attempts, []);
  }),

  fact('a claim that is told of a paused queue starts nothing', async on => {
    await on.store.submit(someSubmissions(3, { queue: 'mails' }));
    await on.queues.setQueuePaused('mails', true, null);

    assert.deepEqual((await on.store.claim(aClaim({ lanes: [aLane()] }))).attempts, []);
  }),

  fact('a claim that is told of a capped queue starts no more than the cap allows', async on => {
    await on.store.submit(someSubmissions(3, { queue: 'mails' }));
    await on.queues.setQueueLimit('mails', 1, null);

    const { attempts } = await on.store.claim(aClaim({ lanes: [aLane()] }));

    assert.ok(attempts.length <= 1, `${attempts.length} jobs run below a cap of 1`);
  }),

  fact('an executor that has stopped starts nothing that it is told of', async on => {
    await on.store.submit(someSubmissions(3, { queue: 'mails' }));
    await on.store.retire('executor-1');

    assert.deepEqual((await on.store.claim(aClaim({ lanes: [aLane()] }))).attempts, []);
  }),

  fact('a claim with limit 0 starts nothing that it is told of', async ({ store }) => {
    await store.submit(someSubmissions(3, { queue: 'mails' }));

    assert.deepEqual((await store.claim(aClaim({ lanes: [aLane()], limit: 0 }))).attempts, []);
  }),
]);
