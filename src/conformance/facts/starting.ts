import { assert } from '../assert.ts';
import { microsOf } from '../../core/time.ts';
import { assertHas, attemptOf, jobOf, only, settled, started, startOf, submitted } from '../arrange.ts';
import { aClaim, anExecutor, aReport, aSubmission, keyOf, rescheduled, someSubmissions } from '../builders.ts';
import { fact, group } from '../fact.ts';

const trace = {
  traceParent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  traceState: 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7',
};
const other = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const starting = group('What a start is', [
  fact('a claim starts a due job: running, and a counted start', async on => {
    const job = await submitted(on);
    on.clock.advance(5000);

    const attempt = only((await on.store.claim(aClaim())).attempts);

    assertHas(attempt, { scope: '', id: job.id, attempt: 1, startedAt: on.clock.now() });
    assertHas(await jobOf(on, job), { state: 'running', attemptCount: 1, failureCount: 0, finishedAt: null });
  }),

  fact('a claimed job has a running attempt of the executor that claimed it', async on => {
    await on.store.register(anExecutor({ id: 'claimer' }));
    const job = await submitted(on);

    const attempt = only((await on.store.claim(aClaim({ executorId: 'claimer' }))).attempts);

    assert.deepEqual(await on.store.attempts(keyOf(job)), [
      {
        ...keyOf(job),
        attempt: 1,
        state: 'running',
        executorId: 'claimer',
        progress: 0,
        progressMessage: null,
        failureReason: null,
        error: null,
        resultRef: null,
        startedAt: on.clock.date(),
        endedAt: null,
      },
    ]);
    assert.equal(attempt.attempt, 1);
  }),

  fact('every start has a token of its own, a UUID of version 4', async on => {
    await on.store.submit(someSubmissions(5));
    const { attempts } = await on.store.claim(aClaim());
    await on.store.settle(attempts.map(attempt => rescheduled(attempt, on.clock.now())));
    const again = (await on.store.claim(aClaim())).attempts;

    const tokens = [...attempts, ...again].map(({ token }) => token);

    assert.equal(new Set(tokens).size, 10);
    assert.ok(
      tokens.every(token => uuidV4.test(token)),
      tokens.join(' '),
    );
  }),

  fact('a claimed attempt brings all that its executor needs', async on => {
    const notBefore = new Date(on.clock.date().getTime() - 1000);
    const submission = aSubmission({
      scope: 'tenant',
      queue: 'slow',
      priority: 3,
      maxAttempts: 4,
      payload: { to: 'x' },
      timeout: '90s',
      retry: { base: '1s', factor: 3, cap: '1h', jitter: 0 },
      onInterrupt: 'requeue',
      metadata: { a: 'b' },
      trace,
      notBefore,
    });
    await on.store.submit([submission]);

    const { token, ...attempt } = only((await on.store.claim(aClaim())).attempts);

    assert.ok(token);
    assert.deepEqual(attempt, {
      scope: 'tenant',
      id: submission.id,
      attempt: 1,
      name: 'mail.send',
      version: '1',
      queue: 'slow',
      priority: 3,
      payload: '{"to":"x"}',
      maxAttempts: 4,
      attemptLimit: 4,
      failureCount: 0,
      onInterrupt: 'requeue',
      timeoutMs: 90_000,
      retryPolicy: { baseMs: 1000, factor: 3, capMs: 3_600_000, jitter: 0, lifetimeMs: null },
      retryUntil: null,
      scheduledFor: microsOf(notBefore),
      metadata: { a: 'b' },
      trace,
      startedAt: on.clock.now(),
    });
  }),

  fact(
    'an attempt says null where its submission left policies to the definition, and false where it forbade retries',
    async on => {
      const [plain, never] = [await submitted(on), await submitted(on, { retry: false })];

      assertHas(await startOf(on, plain), { timeoutMs: null, retryPolicy: null, retryUntil: null, metadata: {} });
      assertHas(await startOf(on, never), { retryPolicy: false });
    },
  ),

  fact('an attempt has the trace context of the submission that made its job, whatever comes after', async on => {
    const [full, parentOnly, none] = [
      await submitted(on, { trace, maxAttempts: 3 }),
      await submitted(on, { trace: { traceParent: trace.traceParent } }),
      await submitted(on),
    ];
    await on.store.submit([aSubmission({ id: full.id, maxAttempts: 3, trace: { traceParent: other } })]);

    const first = await startOf(on, full);
    assert.deepEqual(first.trace, trace);
    assert.deepEqual((await startOf(on, parentOnly)).trace, { traceParent: trace.traceParent });
    assert.equal((await startOf(on, none)).trace, null);

    await settled(on, rescheduled(first, on.clock.now()));
    assert.deepEqual((await startOf(on, full)).trace, trace);
  }),

  fact('a trace context is no part of the request', async on => {
    const submission = await submitted(on, { trace });

    const again = await on.store.submit([aSubmission({ id: submission.id, trace: { traceParent: other } })]);

    assertHas(only(again), { created: false, matched: 'identity' });
  }),

  fact('an attempt knows the starts and failures before it', async on => {
    const first = await started(on, { maxAttempts: 3 });
    await settled(on, rescheduled(first, on.clock.now()));

    assertHas(only((await on.store.claim(aClaim())).attempts), { attempt: 2, failureCount: 1, attemptLimit: 3 });
  }),

  fact('a new start by key begins at progress 0 without a message, too', async on => {
    const first = await started(on);
    await on.store.progress([aReport(first, 60, 'half way')]);
    await settled(on, rescheduled(first, on.clock.now()));
    const second = await startOf(on, first);

    assertHas(await jobOf(on, first), { progress: 0, progressMessage: null });
    assertHas(await attemptOf(on, second), { progress: 0, progressMessage: null });
  }),

  fact('a new start begins at progress 0 without a message, and leaves the attempt before it alone', async on => {
    const first = await started(on);
    await on.store.progress([aReport(first, 60, 'half way')]);
    await settled(on, rescheduled(first, on.clock.now()));
    const second = only((await on.store.claim(aClaim())).attempts);

    assertHas(await jobOf(on, first), { progress: 0, progressMessage: null });
    assertHas(await attemptOf(on, second), { progress: 0, progressMessage: null });
    assertHas(await attemptOf(on, first), { progress: 60, progressMessage: 'half way', state: 'failed' });
  }),
]);
