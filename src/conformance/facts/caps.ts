import { assert } from '../assert.ts';
import {
  aJobIn,
  assertHas,
  assertUnchanged,
  idsOf,
  only,
  settled,
  started,
  startOf,
  stateOf,
  submitted,
} from '../arrange.ts';
import { aClaim, anExecutor, buildReport, keyOf, rescheduled, someSubmissions, succeeded } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

const tomorrow = new Date('2030-01-02T00:00:00Z');

export const caps = group('Caps', [
  fact('of a capped queue no more jobs run at once than the cap allows', async on => {
    await on.queues.setQueueLimit('mails', 2, null);
    await on.store.submit(someSubmissions(5, { queue: 'mails' }));

    const first = await on.store.claim(aClaim());
    const second = await on.store.claim(aClaim());

    assert.deepEqual([first.attempts.length, second.attempts.length], [2, 0]);
    await settled(on, succeeded(first.attempts[0]!));
    assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
  }),

  fact('a claim that a cap holds back says so, and counts none of what it holds back as due', async on => {
    await on.queues.setQueueLimit('mails', 1, null);
    await on.store.submit(someSubmissions(2, { queue: 'mails' }));
    assert.equal((await on.store.claim(aClaim())).attempts.length, 1);

    assert.deepEqual(await on.store.claim(aClaim()), { attempts: [], nextDueAt: null, isHeldBack: true });
  }),

  fact('a full queue whose jobs are not due yet holds nothing back', async on => {
    await on.queues.setQueueLimit('mails', 1, null);
    await started(on, { queue: 'mails' });
    await submitted(on, { queue: 'mails', notBefore: tomorrow });

    assert.equal((await on.store.claim(aClaim())).isHeldBack, false);
  }),

  fact('a cap counts what all executors run, of every definition', async on => {
    await on.queues.setQueueLimit('mails', 2, null);
    await on.store.register(anExecutor({ id: 'other' }));
    await started(on, { queue: 'mails', definition: buildReport }, 'other');
    await on.store.submit(someSubmissions(3, { queue: 'mails' }));

    assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
  }),

  fact('a job that was moved to another queue counts below the cap of that one', async on => {
    const moved = await aJobIn(on, 'failed', { queue: 'mails' });
    await on.store.resurrect(moved, { queue: 'repairs' });
    await startOf(on, moved);
    await on.queues.setQueueLimit('mails', 1, null);
    await on.queues.setQueueLimit('repairs', 1, null);
    await on.store.submit([...someSubmissions(1, { queue: 'mails' }), ...someSubmissions(1, { queue: 'repairs' })]);

    const { attempts } = await on.store.claim(aClaim());

    assert.deepEqual(
      attempts.map(({ queue }) => queue),
      ['mails'],
    );
  }),

  fact('a cap holds for its queue alone: what a full queue holds back blocks no other', async on => {
    await on.queues.setQueueLimit('mails', 1, null);
    await on.store.submit(someSubmissions(5, { queue: 'mails', priority: 9 }));
    const others = someSubmissions(3, { queue: 'others' });
    await on.store.submit(others);

    const { attempts } = await on.store.claim(aClaim({ limit: 4 }));

    assert.deepEqual(idsOf(attempts).slice(1), idsOf(others));
    assert.equal(attempts[0]!.queue, 'mails');
  }),

  fact('each capped queue has a cap of its own', async on => {
    await on.queues.setQueueLimit('a', 1, null);
    await on.queues.setQueueLimit('b', 2, null);
    await on.store.submit([...someSubmissions(3, { queue: 'a' }), ...someSubmissions(3, { queue: 'b' })]);

    const { attempts } = await on.store.claim(aClaim());

    assert.deepEqual(attempts.map(({ queue }) => queue).sort(), ['a', 'b', 'b']);
  }),

  fact('the highest priority comes first over queues with a cap and without one together', async on => {
    await on.queues.setQueueLimit('mails', 5, null);
    const jobs = [];
    for (const [priority, queue] of [
      [1, 'others'],
      [10, 'others'],
      [5, 'mails'],
      [7, 'mails'],
      [3, 'others'],
    ] as const) {
      jobs.push(await submitted(on, { queue, priority }));
    }

    const { attempts } = await on.store.claim(aClaim({ limit: 4 }));

    assert.deepEqual(
      attempts.map(({ priority }) => priority),
      [10, 7, 5, 3],
    );
    assert.equal(await stateOf(on, jobs[0]!), 'queued');
  }),

  fact('of one priority the longest due comes first over queues with a cap and without one', async on => {
    await on.queues.setQueueLimit('mails', 5, null);
    const due = (ms: number) => new Date(on.clock.date().getTime() - ms);
    const [third, first, fourth, second] = [
      await submitted(on, { queue: 'mails', notBefore: due(2) }),
      await submitted(on, { queue: 'others', notBefore: due(4) }),
      await submitted(on, { queue: 'others', notBefore: due(1) }),
      await submitted(on, { queue: 'mails', notBefore: due(3) }),
    ];

    for (const next of [first, second, third, fourth]) {
      assert.deepEqual(idsOf((await on.store.claim(aClaim({ limit: 1 }))).attempts), [next.id]);
    }
  }),

  fact('a cap holds over all priorities of its queue', async on => {
    await on.queues.setQueueLimit('mails', 2, null);
    for (const priority of [1, 2, 3, 4]) {
      await submitted(on, { queue: 'mails', priority });
    }

    const { attempts } = await on.store.claim(aClaim());

    assert.deepEqual(
      attempts.map(({ priority }) => priority),
      [4, 3],
    );
  }),

  fact('the most urgent jobs of a capped queue come first', async on => {
    await on.queues.setQueueLimit('mails', 2, null);
    const [low, high, middle] = [
      await submitted(on, { queue: 'mails', priority: 1 }),
      await submitted(on, { queue: 'mails', priority: 3 }),
      await submitted(on, { queue: 'mails', priority: 2 }),
    ];

    assert.deepEqual(idsOf((await on.store.claim(aClaim())).attempts), idsOf([high, middle]));
    assert.equal(await stateOf(on, low), 'queued');
  }),

  (
    [
      ['fails', (on, attempt) => settled(on, rescheduled(attempt, on.clock.now() + 60_000_000))],
      ['is released', (on, attempt) => on.store.release([attempt])],
      ['is recovered', (on, attempt) => on.store.recover([attempt], { requeue: 'never', reason: 'shutdown' })],
    ] as ReadonlyArray<[string, (on: FactContext, attempt: Awaited<ReturnType<typeof started>>) => Promise<unknown>]>
  ).map(([what, end]) =>
    fact(`a running job that ${what} makes room below the cap`, async on => {
      await on.queues.setQueueLimit('mails', 1, null);
      const attempt = await started(on, { queue: 'mails' });
      await submitted(on, { queue: 'mails' });
      assert.deepEqual((await on.store.claim(aClaim())).attempts, []);

      await end(on, attempt);

      assert.equal((await on.store.claim(aClaim())).attempts.length, 1);
    }),
  ),

  fact('a cap can be raised, lowered below what runs, and lifted', async on => {
    await on.queues.setQueueLimit('mails', 1, null);
    await on.store.submit(someSubmissions(9, { queue: 'mails' }));
    const claimed = async () => (await on.store.claim(aClaim())).attempts;
    const first = await claimed();
    assert.equal(first.length, 1);

    await on.queues.setQueueLimit('mails', 3, null);
    const more = await claimed();
    assert.equal(more.length, 2, 'raised to 3');
    await on.queues.setQueueLimit('mails', 2, null);
    assert.deepEqual(await on.store.status([...first, ...more]), ['active', 'active', 'active']);
    await on.store.settle([...first].map(attempt => succeeded(attempt)));
    assert.equal((await claimed()).length, 0, 'lowered to 2, two run');
    await on.queues.setQueueLimit('mails', null, null);
    assert.equal((await claimed()).length, 6, 'lifted');
  }),

  fact('a job of a full queue is not started by its key, and when there is room it is', async on => {
    await on.queues.setQueueLimit('mails', 1, null);
    const first = await started(on, { queue: 'mails' });
    const job = await submitted(on, { queue: 'mails' });
    await assertUnchanged(on, job, async () => {
      assert.equal(await on.store.tryStart(keyOf(job), 'executor-1'), null);
    });
    assert.ok(await on.store.tryStart(keyOf(await submitted(on, { queue: 'others' })), 'executor-1'));

    await settled(on, succeeded(first));
    assertHas(await on.store.tryStart(keyOf(job), 'executor-1'), { ...keyOf(job), attempt: 1 });
  }),

  fact('a job is started by its key below the cap of its own queue, whatever waits in others', async on => {
    await on.queues.setQueueLimit('a', 2, null);
    await on.queues.setQueueLimit('b', 2, null);
    const jobs = [
      await submitted(on, { scope: 'mine', id: 'first', queue: 'a' }),
      await submitted(on, { scope: 'theirs', id: 'second', queue: 'a' }),
      await submitted(on, { scope: 'mine', id: 'second', queue: 'b' }),
      await submitted(on, { scope: 'theirs', id: 'first', queue: 'b' }),
    ];

    for (const job of jobs) {
      await startOf(on, job);
    }
  }),

  fact('a job that is started by its key counts below the cap', async on => {
    await on.queues.setQueueLimit('mails', 1, null);
    await on.store.submit(someSubmissions(2, { queue: 'mails' }));
    assert.ok(await on.store.tryStart(keyOf(await submitted(on, { queue: 'mails' })), 'executor-1'));

    assert.deepEqual((await on.store.claim(aClaim())).attempts, []);
  }),

  fact('six who start jobs of a capped queue by their keys at once never run more than the cap', async on => {
    const handles = await on.handles(6);
    await on.queues.setQueueLimit('mails', 2, null);

    for (let round = 0; round < 4; round++) {
      const jobs = someSubmissions(6, { queue: 'mails' });
      await on.store.submit(jobs);
      const answers = await Promise.all(
        handles.map(({ store }, index) => store.tryStart(keyOf(jobs[index]!), 'executor-1')),
      );

      const attempts = answers.filter(attempt => attempt !== null);
      assert.equal(attempts.length, 2);
      await on.store.settle(attempts.map(attempt => succeeded(attempt)));
    }
  }),

  fact('six executors who claim from a capped queue at once never run more than the cap', async on => {
    const handles = await on.handles(6);
    await on.queues.setQueueLimit('mails', 3, null);
    await on.store.submit(someSubmissions(20, { queue: 'mails' }));

    for (let round = 0; round < 4; round++) {
      const claims = await Promise.all(
        handles.map(({ store }) => store.claim(aClaim({ limit: 2, queues: round % 2 ? ['mails'] : null }))),
      );
      const running = await on.store.running({ limit: 100 });

      assert.ok(running.length <= 3, `${running.length} jobs run below a cap of 3`);
      assert.equal(claims.flatMap(({ attempts }) => attempts).length, running.length);
      const attempts = claims.flatMap(({ attempts }) => attempts);
      await on.store.settle(attempts.map(attempt => succeeded(attempt)));
    }
  }),

  fact('claims from two capped queues in opposite orders at once do not block each other', async on => {
    const [a, b] = await on.handles(2);
    await on.queues.setQueueLimit('a', 1, null);
    await on.queues.setQueueLimit('b', 1, null);

    for (let round = 0; round < 5; round++) {
      await on.store.submit([...someSubmissions(2, { queue: 'a' }), ...someSubmissions(2, { queue: 'b' })]);
      const claims = await Promise.all([
        a!.store.claim(aClaim({ queues: ['a', 'b'] })),
        b!.store.claim(aClaim({ queues: ['b', 'a'] })),
      ]);

      const attempts = claims.flatMap(({ attempts }) => attempts);
      const rest = (await on.store.claim(aClaim())).attempts;
      assert.deepEqual([...attempts, ...rest].map(({ queue }) => queue).sort(), ['a', 'b']);
      await on.store.settle([...attempts, ...rest].map(attempt => succeeded(attempt)));
    }
  }),

  fact('a job that is claimed below a cap is claimed like any other', async on => {
    await on.queues.setQueueLimit('mails', 1, null);
    const job = await submitted(on, { queue: 'mails' });

    const attempt = only((await on.store.claim(aClaim())).attempts);

    assertHas(attempt, { ...keyOf(job), attempt: 1, startedAt: on.clock.now() });
    assertHas(only(await on.store.attempts(keyOf(job))), { state: 'running', executorId: 'executor-1' });
  }),
]);
