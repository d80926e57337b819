import { assert } from '../assert.ts';
import { defineJob } from '../../core/definition.ts';
import type { JobState } from '../../core/states.ts';
import { microsOf } from '../../core/time.ts';
import { aJobIn, assertUnchanged, background, idsOf, jobOf, only, settled, submitted } from '../arrange.ts';
import {
  aClaim,
  anExecutor,
  aSubmission,
  buildReport,
  keyOf,
  rescheduled,
  sendMail,
  someSubmissions,
  succeeded,
} from '../builders.ts';
import { fact, group } from '../fact.ts';

const notClaimable: readonly JobState[] = ['awaiting', 'running', 'succeeded', 'failed', 'cancelled', 'interrupted'];

export const claiming = group('Claiming', [
  fact('a claim gives at most its limit, and the next one what is left', async ({ store }) => {
    await store.submit(someSubmissions(5));

    const first = (await store.claim(aClaim({ limit: 3 }))).attempts;
    const second = (await store.claim(aClaim({ limit: 3 }))).attempts;

    assert.deepEqual([first.length, second.length], [3, 2]);
    assert.equal(new Set(idsOf([...first, ...second])).size, 5);
  }),

  fact('a claim with limit 0 starts nothing', async on => {
    const job = await submitted(on);

    const { attempts } = await assertUnchanged(on, job, () => on.store.claim(aClaim({ limit: 0 })));

    assert.deepEqual(attempts, []);
  }),

  fact('a job that was claimed is not claimed again', async on => {
    await submitted(on);
    await on.store.claim(aClaim());
    on.clock.advance(365 * 86_400_000);

    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
  }),

  fact('a job is due at its instant, and not a microsecond before', async on => {
    const notBefore = new Date('2030-06-01T00:00:00Z');
    await submitted(on, { notBefore });

    on.clock.set(microsOf(notBefore) - 1);
    assert.equal((await on.store.claim(aClaim())).attempts.length, 0, 'a microsecond before');
    on.clock.set(microsOf(notBefore));
    assert.equal((await on.store.claim(aClaim())).attempts.length, 1, 'at its instant');
  }),

  notClaimable.map(state =>
    fact(`a job that is ${state} is not claimed, however long it has been due`, async on => {
      const key = await aJobIn(on, state);
      on.clock.advance(365 * 86_400_000);

      const { attempts } = await assertUnchanged(on, key, () => on.store.claim(aClaim()));

      assert.deepEqual(attempts, []);
    }),
  ),

  fact('only jobs of the named definitions are claimed: name and version both match', async on => {
    await submitted(on, { definition: buildReport });
    const definitions = [
      { name: 'report.build', version: '1' },
      { name: 'mail.send', version: '2' },
      { name: 'REPORT.BUILD', version: '2' },
    ];
    assert.deepEqual((await on.store.claim(aClaim({ definitions }))).attempts, []);

    assert.equal((await on.store.claim(aClaim({ definitions: [sendMail, buildReport] }))).attempts.length, 1);
  }),

  fact('a claim leaves what only stands beside its jobs: other names, versions and queues', async on => {
    const asked = await submitted(on, { queue: 'a' });
    const { name, version } = sendMail;
    for (const [queue, beside] of [
      ['a', { name: 'mail.sent', version }],
      ['a', { name, version: '2' }],
      ['b', sendMail],
    ] as const) {
      await submitted(on, { queue, definition: defineJob<unknown>()({ name: beside.name, version: beside.version }) });
    }

    const { attempts } = await on.store.claim(aClaim({ queues: ['a'] }));

    assert.deepEqual(idsOf(attempts), [asked.id]);
  }),

  fact('only jobs of the named queues are claimed', async on => {
    const [a, b] = [await submitted(on, { queue: 'a' }), await submitted(on, { queue: 'b' })];
    await submitted(on, { queue: 'c' });

    const { attempts } = await on.store.claim(aClaim({ queues: ['a', 'b', 'A'] }));

    assert.deepEqual(idsOf(attempts).sort(), [a.id, b.id].sort());
  }),

  fact('without a list of queues every queue is served', async on => {
    const jobs = [];
    for (const queue of ['default', 'zzz', '0', 'Ünïcode']) {
      jobs.push(await submitted(on, { queue }));
    }

    assert.deepEqual(idsOf((await on.store.claim(aClaim())).attempts).sort(), idsOf(jobs).sort());
  }),

  fact('jobs that stand in hundreds of queues are all claimed, in as many claims as it takes', async ({ store }) => {
    const jobs = Array.from({ length: 600 }, (_, index) => aSubmission({ queue: `queue-${index}` }));
    await store.submit(jobs);

    const claimed: string[] = [];
    for (let isMore = true; isMore;) {
      const { attempts } = await store.claim(aClaim({ limit: 1000 }));
      claimed.push(...idsOf(attempts));
      isMore = attempts.length > 0;
    }

    assert.deepEqual(claimed.sort(), idsOf(jobs).sort());
  }),

  fact('a queue or definition that is named twice is served once', async ({ store }) => {
    await store.submit(someSubmissions(3));

    const request = aClaim({ definitions: [sendMail, sendMail], queues: ['default', 'default'] });
    const { attempts } = await store.claim(request);

    assert.equal(attempts.length, 3);
    assert.equal(new Set(idsOf(attempts)).size, 3);
  }),

  fact('no queues and no definitions match no job', async on => {
    await submitted(on);

    for (const request of [{ queues: [] }, { definitions: [] }]) {
      assert.deepEqual(await on.store.claim(aClaim(request)), { attempts: [], nextDueAt: null, isHeldBack: false });
    }
  }),

  fact('jobs of every scope are claimed', async ({ store }) => {
    await store.submit(['', 'a', 'b'].map(scope => aSubmission({ scope })));

    const { attempts } = await store.claim(aClaim());

    assert.deepEqual(attempts.map(({ scope }) => scope).sort(), ['', 'a', 'b']);
  }),

  fact('an executor that nobody registered starts nothing', async on => {
    const job = await submitted(on);

    await assertUnchanged(on, job, async () => {
      assert.deepEqual((await on.store.claim(aClaim({ executorId: 'nobody' }))).attempts, []);
      assert.equal(await on.store.tryStart(keyOf(job), 'nobody'), null);
    });
  }),

  fact('an executor that has stopped starts nothing', async on => {
    const job = await submitted(on);
    await on.store.retire('executor-1');

    await assertUnchanged(on, job, async () => {
      assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
      assert.equal(await on.store.tryStart(keyOf(job), 'executor-1'), null);
    });
  }),

  fact('eight executors who claim at once get every job exactly once', async on => {
    const handles = await on.handles(8);
    const jobs = someSubmissions(60);
    await on.store.submit(jobs);

    const claimed = await Promise.all(
      handles.map(async ({ store }) => {
        const { id } = anExecutor();
        await store.register(anExecutor({ id }));
        const mine = [];
        for (let round = 0; round < 3; round++) {
          mine.push(...(await store.claim(aClaim({ executorId: id, limit: 3 }))).attempts);
        }
        return mine;
      }),
    );
    const rest = (await on.store.claim(aClaim({ limit: 100 }))).attempts;

    const attempts = [...claimed.flat(), ...rest];
    assert.deepEqual(idsOf(attempts).sort(), idsOf(jobs).sort());
    assert.ok(attempts.every(({ attempt }) => attempt === 1));
    assert.equal((await on.store.running({ limit: 100 })).length, 60);
  }),

  fact('of a claim and a start by key at once, one gets the job', async on => {
    const [a, b] = await on.handles(2);

    for (let round = 0; round < 10; round++) {
      const job = await submitted(on);
      const [{ attempts }, attempt] = await Promise.all([
        a!.store.claim(aClaim()),
        b!.store.tryStart(keyOf(job), 'executor-1'),
      ]);

      const winners = [...attempts, ...(attempt === null ? [] : [attempt])];
      assert.equal(winners.length, 1, `${winners.length} got the job`);
      assert.equal((await jobOf(on, job)).attemptCount, 1);
      assert.equal((await on.store.attempts(keyOf(job))).length, 1);
      await on.store.settle([succeeded(winners[0]!)]);
    }
  }),

  fact('two stores whose clocks are ten minutes apart end a job once', { needs: ['severalHandles'] }, async on => {
    const ahead = { now: () => on.clock.now() + 600_000_000 };
    const other = await on.open(ahead);
    await other.store.register(anExecutor({ id: 'ahead' }));
    const job = await submitted(on, { notBefore: new Date(on.clock.date().getTime() + 300_000) });
    assert.deepEqual((await on.store.claim(aClaim())).attempts, [], 'not due by the one clock');

    const attempt = only((await other.store.claim(aClaim({ executorId: 'ahead' }))).attempts);
    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
    const answers = await Promise.all([
      on.store.settle([succeeded(attempt, { resultRef: 'one' })]),
      other.store.settle([rescheduled(attempt, 0)]),
    ]);

    assert.equal(answers.flat().filter(({ answer }) => answer === 'settled').length, 1);
    assert.equal((await on.store.attempts(keyOf(job))).length, 1);
  }),

  fact(
    'what one store commits, another one on the same storage sees at once',
    { needs: ['severalHandles'] },
    async on => {
      const other = await on.open();
      const job = await submitted(on, { definition: background });

      assert.deepEqual(await other.store.get(keyOf(job)), await on.store.get(keyOf(job)));
      const attempt = await other.store.tryStart(keyOf(job), 'executor-1');
      assert.deepEqual(await settled(on, succeeded(attempt!)), { answer: 'settled', state: 'succeeded' });
      assert.equal((await other.store.get(keyOf(job)))?.state, 'succeeded');
    },
  ),
]);
