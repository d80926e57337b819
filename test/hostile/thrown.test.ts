import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { JobsEvent } from '../../src/core/events.ts';
import type { RunningJob } from '../../src/core/handler.ts';
import type { JobMiddleware } from '../../src/core/middleware.ts';
import { forEachStore, openHost, runAll, type Host } from './host.ts';
import { noTexts } from './texts.ts';
import { oddResults, thrownThings } from './thrown.ts';

/** From where it is thrown. */
const ways: Readonly<Record<string, (job: RunningJob<number, unknown>, thrown: unknown) => unknown>> = {
  'the handler': (_, thrown) => {
    throw thrown;
  },
  'an asynchronous handler': async (_, thrown) => {
    await Promise.resolve();
    throw thrown;
  },
  'a promise of its own kind': (_, thrown) => ({
    then: (_resolve: unknown, reject: (error: unknown) => void) => reject(thrown),
  }),
  'work that is done once': async (job, thrown) => {
    await job.once(job.id, { ttl: '1h' }, () => Promise.reject(thrown));
  },
  'a middleware': () => {},
  'work in the transaction': async (job, thrown) => {
    await job.transactional(() => Promise.reject(thrown));
  },
};

/** The large ones take a second to make; where they come from makes no difference to them. */
const smallThings = thrownThings.filter(([title]) => !/20 MB|100,000/.test(title));
const definitions = Object.keys(ways).map(way => defineJob<number>()({ name: way, retry: false }));
const retried = defineJob<number>()({ name: 'retried', maxAttempts: 2, retry: { base: '5m' } });
const returning = defineJob<number>()({ name: 'returning' });
const plain = defineJob<number>()({ name: 'plain' });

forEachStore(kind => {
  const unhandled: unknown[] = [];
  const listener = (error: unknown) => void unhandled.push(error);
  let host: Host;
  beforeAll(async () => {
    process.on('unhandledRejection', listener);
    host = await openHost(kind);
  });
  afterAll(async () => {
    process.off('unhandledRejection', listener);
    await host.close();
  });

  test.each(definitions.map(definition => [definition.name, definition] as const))(
    'whatever %s throws is recorded readably on job and attempt, told of, and ends nothing else',
    async (way, definition) => {
      const control = host.jobs.scope(way);
      const things = way === 'the handler' ? thrownThings : smallThings;
      await host.jobs.submit([
        ...things.map((_, index) => definition.create(index, { id: `job-${index}`, scope: way })),
        plain.create(0, { id: 'plain', scope: way }),
      ]);
      const handlers = [
        host.jobs.handler(definition, job => ways[way]!(job, things[job.payload]![1]()) as Promise<void>),
        host.jobs.handler(plain, () => {}),
      ];

      const middleware: JobMiddleware<never> = async ({ name, payload }, next) => {
        if (name === 'a middleware') throw things[payload as number]![1]();
        return next();
      };

      await runAll(host, handlers, things.length + 1, [middleware]);

      const told = new Map(settledIn(host, way).map(({ id, error }) => [id, error]));
      for (const [index, [title, , readable]] of things.entries()) {
        const id = `job-${index}`;
        const job = await control.get(id);
        const [attempt] = await control.attempts(id);
        const text = job?.lastError ?? '';
        expect([title, job?.state, attempt?.state, text]).toEqual([
          title,
          'failed',
          'failed',
          expect.stringContaining(readable),
        ]);
        expect([title, attempt?.error, told.get(id)]).toEqual([title, text, text]);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8192);
        expect(text.isWellFormed() && !text.includes('\0')).toBe(true);
      }
      expect((await control.get('plain'))?.state).toBe('succeeded');
      expect(host.log.troubles.filter(event => event !== 'pool_too_small')).toEqual([]);
      expect(unhandled).toEqual([]);
    },
  );

  test('whatever is thrown, a job that has starts left is queued for its next one', async () => {
    await host.jobs.submit(smallThings.map((_, index) => retried.create(index, { id: `retried-${index}` })));
    const handler = host.jobs.handler(retried, ({ payload }) => {
      throw smallThings[payload]![1]();
    });

    await runAll(host, [handler], smallThings.length);

    for (const [index, [title]] of smallThings.entries()) {
      const job = await host.jobs.scope('').get(`retried-${index}`);
      const [state, reason] = title.startsWith('a PermanentError')
        ? ['failed', 'permanent_error']
        : ['queued', 'handler_error'];
      expect([title, job?.state, job?.failureReason, job?.failureCount]).toEqual([title, state, reason, 1]);
    }
  });

  test('what can be no progress is refused by name, and the handler goes on if it likes', async () => {
    const refusals: Array<[title: string, option: string, refused: string | undefined]> = [];
    await host.jobs.submit(plain.create(0, { id: 'progress' }));
    const handler = host.jobs.handler(plain, job => {
      for (const [title, value] of noTexts) {
        for (const [option, report] of [
          ['percent', () => job.progress(value as number)],
          ['message', () => job.progress(50, value as string)],
        ] as const) {
          const isNumber = option === 'percent' && typeof value === 'number' && !Number.isNaN(value);
          if (!isNumber) refusals.push([title, option, optionOf(report)]);
        }
      }
      job.progress(Infinity, 'the end');
    });

    await runAll(host, [handler], 1);

    expect(refusals.filter(([, option, refused]) => option !== refused)).toEqual([]);
    expect(refusals.length).toBe(2 * noTexts.length - 1);
    expect(await host.jobs.scope('').get('progress')).toMatchObject({
      state: 'succeeded',
      progress: 100,
      progressMessage: 'the end',
    });
  });

  test.each(['returned', 'returned by a transaction'])(
    'what is %s and can be no reference fails its job visibly, once',
    async way => {
      const scope = way;
      await host.jobs.submit(oddResults.map((_, index) => returning.create(index, { id: `job-${index}`, scope })));
      const handler = host.jobs.handler(returning, async job => {
        const value = oddResults[job.payload]![1]() as string;
        return way === 'returned' ? value : job.transactional(async () => value);
      });

      await runAll(host, [handler], oddResults.length);

      for (const [index, [title]] of oddResults.entries()) {
        const job = await host.jobs.scope(scope).get(`job-${index}`);
        expect([title, job]).toEqual([
          title,
          expect.objectContaining({
            state: 'failed',
            failureReason: 'result_invalid',
            resultRef: null,
            attemptCount: 1,
            lastError: expect.stringContaining('well-formed text of at most 2048 characters without NUL'),
          }),
        ]);
      }
    },
  );
});

function settledIn({ events }: Host, scope: string): JobsEvent<'attempt_settled'>[] {
  return events.filter(each => each.event === 'attempt_settled' && each.scope === scope) as never;
}

function optionOf(call: () => void): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { option?: string }).option;
  }
}
