import { assert, isTypeError } from '../assert.ts';
import type { Attempt } from '../../core/attempt.ts';
import type { StoreHint } from '../../core/store.ts';
import { aJobIn, settled, settlements, started, storedRecurring, submitted } from '../arrange.ts';
import { aFiring, aRecurringJob, keyOf, succeeded } from '../builders.ts';
import { fact, group, type FactContext } from '../fact.ts';

type Move = readonly [what: string, kind: StoreHint['kind'], act: (on: FactContext) => Promise<() => Promise<unknown>>];

/** What an executor wants to know at once: what is prepared before the listener comes, and the call that it hears of. */
const moves: readonly Move[] = [
  ['new jobs', 'due', async on => () => submitted(on)],
  ['a retry', 'due', async on => heardAfter(await aJobIn(on, 'failed'), key => on.store.retry(key, {}))],
  [
    'a job that is run now',
    'due',
    async on =>
      heardAfter(await submitted(on, { notBefore: new Date('2031-01-01') }), key => on.store.runNow(keyOf(key))),
  ],
  ['a release', 'due', async on => heardAfter(await started(on), attempt => on.store.release([attempt]))],
  [
    'a recovery that queues a job',
    'due',
    async on =>
      heardAfter(await started(on), attempt => on.store.recover([attempt], { requeue: 'always', reason: 'shutdown' })),
  ],
  [
    'a reschedule',
    'due',
    async on => heardAfter(await started(on), attempt => settled(on, settlements.rescheduled(attempt))),
  ],
  [
    'a job whose parents have succeeded',
    'due',
    async on => {
      const parent = await started(on);
      await submitted(on, { after: [keyOf(parent)] });
      return () => settled(on, succeeded(parent));
    },
  ],
  ['the end of a pause', 'due', async on => () => on.queues.setQueuePaused('default', false, null)],
  ['a raised cap', 'due', async on => () => on.queues.setQueueLimit('default', 5, null)],
  [
    'a fire',
    'due',
    async on =>
      heardAfter(await storedRecurring(on, on.clock.now()), job => on.recurring.fire(aFiring(job, on.clock.now()))),
  ],
  [
    'a job that is made by hand',
    'due',
    async on => heardAfter(await storedRecurring(on, null), job => on.recurring.runRecurringNow(keyOf(job))),
  ],
  ['a new recurring job', 'recurring', async on => () => storedRecurring(on, on.clock.now())],
  ['replaced recurring jobs', 'recurring', async on => () => on.recurring.replaceRecurring('', [aRecurringJob(null)])],
  [
    'a recurring job that is resumed',
    'recurring',
    async on =>
      heardAfter(await storedRecurring(on, on.clock.now()), job =>
        on.recurring.resumeRecurring(keyOf(job), { cron: job.cron, timeZone: job.timeZone, next: null }),
      ),
  ],
  [
    'a cancel that a running job has to obey',
    'cancel',
    async on => heardAfter(await started(on), attempt => on.store.cancel(keyOf(attempt), {})),
  ],
  ['a job that ends below a cap', 'room', belowCap((on, attempt) => settled(on, succeeded(attempt)))],
  [
    'a job that was started by its key and ends below a cap',
    'room',
    async on => {
      await on.queues.setQueueLimit('mails', 1, null);
      const attempt = (await on.store.tryStart(keyOf(await submitted(on, { queue: 'mails' })), 'executor-1'))!;
      return () => settled(on, succeeded(attempt));
    },
  ],
  ['a job that is released below a cap', 'room', belowCap((on, attempt) => on.store.release([attempt]))],
  [
    'a job that is recovered below a cap',
    'room',
    belowCap((on, attempt) => on.store.recover([attempt], { requeue: 'never', reason: 'shutdown' })),
  ],
];

const wakes = { needs: ['wakeUp'] } as const;

export const capabilities = group('Capabilities and hints', [
  fact('what a store can do is constant', async ({ store }) => {
    const before = { ...store.capabilities };

    assert.ok(['none', 'local', 'everywhere'].includes(before.wakeUp));
    assert.equal(typeof before.severalProcesses, 'boolean');
    assert.throws(() => Object.assign(store.capabilities, { severalProcesses: 'perhaps' }), isTypeError);
    assert.deepEqual({ ...store.capabilities }, before);
  }),

  fact('a store whose harness says that it wakes executors says so, too', wakes, async ({ store }) => {
    assert.notEqual(store.capabilities.wakeUp, 'none');
  }),

  moves.map(([what, kind, act]) =>
    fact(`a store that wakes executors tells a listener of ${what}`, wakes, async on => {
      const heard = await hintsOf(on, await act(on));

      const kinds = heard.map(hint => hint.kind);
      assert.ok(kinds.includes(kind), `heard ${kinds.join(', ') || 'nothing'}`);
    }),
  ),

  fact('a hint of a cancel names the job, with its scope', wakes, async on => {
    const attempt = await started(on, { scope: 'tenant' });

    const heard = await hintsOf(on, () => on.store.cancel(keyOf(attempt), {}));

    const cancels = heard.filter(({ kind }) => kind === 'cancel');
    assert.deepEqual(cancels, [{ kind: 'cancel', key: keyOf(attempt) }]);
  }),

  fact('who has stopped listening hears nothing any more', wakes, async on => {
    let count = 0;
    const stop = on.store.subscribe(() => (count += 1));
    await stop();
    const before = count;

    await submitted(on);
    await aWhile();

    assert.equal(count, before);
  }),

  fact('each listener has its own end', wakes, async on => {
    let count = 0;
    const stopFirst = on.store.subscribe(() => {});
    const stopSecond = on.store.subscribe(() => (count += 1));
    await stopFirst();

    await submitted(on);
    await aWhile();
    await stopSecond();

    assert.ok(count > 0, 'the second listener heard nothing');
  }),
]);

function belowCap(end: (on: FactContext, attempt: Attempt) => Promise<unknown>): Move[2] {
  return async on => {
    await on.queues.setQueueLimit('mails', 1, null);
    return heardAfter(await started(on, { queue: 'mails' }), attempt => end(on, attempt));
  };
}

async function hintsOf({ store }: FactContext, act: () => Promise<unknown>): Promise<StoreHint[]> {
  const heard: StoreHint[] = [];
  const stop = store.subscribe(hint => heard.push(hint));
  await act();
  await aWhile();
  await stop();

  return heard;
}

/** Hints of this process come in no time; 20 turns of the event loop are more than that. */
async function aWhile(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await new Promise(resolve => setImmediate(resolve));
  }
}

function heardAfter<T>(made: T, act: (made: T) => Promise<unknown>): () => Promise<unknown> {
  return () => act(made);
}
