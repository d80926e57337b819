import { describe, expect, test } from '@jest/globals';
import type { HandlerResult } from '../../src/core/handler.ts';
import {
  checkedMiddleware,
  throughMiddleware,
  type JobMiddleware,
  type MiddlewareJob,
} from '../../src/core/middleware.ts';
import { latch } from '../executor/support/latch.ts';

type Middleware = JobMiddleware<undefined>;
const job = { id: 'a' } as MiddlewareJob<undefined>;

function run(middleware: Middleware[], handler: () => HandlerResult | Promise<HandlerResult>): Promise<HandlerResult> {
  return throughMiddleware(middleware, job, handler);
}

describe('the middleware', () => {
  test('stands around the handler, the first outermost', async () => {
    const said: string[] = [];
    const saying =
      (name: string): Middleware =>
      async (seen, next) => {
        said.push(`${name} ${seen.id}`);
        const result = await next();
        said.push(`${name} ${String(result)}`);
        return result;
      };

    const result = await run([saying('outer'), saying('inner')], () => {
      said.push('handler');
      return 'ref';
    });

    expect(result).toBe('ref');
    expect(said).toEqual(['outer a', 'inner a', 'handler', 'inner ref', 'outer ref']);
  });

  test('may change the result, and keeps it by answering nothing', async () => {
    expect(await run([async (_, next) => `${String(await next())}!`], () => 'ref')).toBe('ref!');
    expect(await run([async (_, next) => void (await next())], () => 'ref')).toBe('ref');
  });

  test('that doesn’t call next keeps the handler from running', async () => {
    let isRun = false;

    expect(await run([async () => 'instead'], () => void (isRun = true))).toBe('instead');
    expect(await run([async () => {}], () => void (isRun = true))).toBeUndefined();
    expect(isRun).toBe(false);
  });

  test('may throw, before, after or instead of what the handler throws', async () => {
    const fails = (message: string) => () => Promise.reject(new Error(message));

    await expect(run([fails('before')], () => 'ref')).rejects.toThrow('before');
    await expect(run([async (_, next) => (await next(), fails('after')())], () => 'ref')).rejects.toThrow('after');
    await expect(run([(_, next) => next()], fails('handler'))).rejects.toThrow('handler');
    await expect(run([(_, next) => next().catch(fails('instead'))], fails('handler'))).rejects.toThrow('instead');
  });

  test('that catches what the handler throws has made a success of it', async () => {
    const forgiving: Middleware = (_, next) => next().catch(() => undefined);

    expect(await run([forgiving], () => Promise.reject(new Error('x')))).toBeUndefined();
  });

  test('that doesn’t wait for next is waited for, and what the handler throws counts', async () => {
    const careless: Middleware = async (_, next) => void next();
    const gate = latch();
    let hasEnded = false;
    const running = run([careless], async () => {
      await gate.opened;
      return 'ref';
    }).finally(() => (hasEnded = true));

    await new Promise(resolve => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    gate.open();
    expect(await running).toBe('ref');
    await expect(run([careless], async () => {
      await new Promise(resolve => setImmediate(resolve));
      throw new Error('late');
    })).rejects.toThrow('late'); // prettier-ignore
  });

  test('that throws while the handler still runs waits for it before its error counts', async () => {
    const gate = latch();
    let hasEnded = false;
    const running = run(
      [
        async (_, next) => {
          void next();
          throw new Error('early');
        },
      ],
      () => gate.opened,
    ).finally(() => (hasEnded = true));

    await new Promise(resolve => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    gate.open();
    await expect(running).rejects.toThrow('early');
  });

  test('that calls next twice is refused, also where it doesn’t look: the handler runs once', async () => {
    let runs = 0;
    const handler = () => void runs++;
    const twice = { code: 'MIDDLEWARE', message: expect.stringContaining('twice') as unknown };

    await expect(run([async (_, next) => (await next(), next())], handler)).rejects.toMatchObject(twice);
    await expect(run([async (_, next) => (void next(), void next())], handler)).rejects.toMatchObject(twice);
    expect(runs).toBe(2);
  });

  test('that calls next after it has ended is refused, and nothing is left unhandled', async () => {
    let kept!: () => Promise<HandlerResult>;
    let runs = 0;
    await run([async (_, next) => void (kept = next)], () => void runs++);

    void kept();
    await expect(kept()).rejects.toMatchObject({ message: expect.stringContaining('after') as unknown });
    await new Promise(resolve => setImmediate(resolve));

    expect(runs).toBe(0);
  });
});

test('what is no list of functions is refused', () => {
  for (const wrong of [{}, 'x', [() => {}, null]]) {
    expect(() => checkedMiddleware(wrong as never)).toThrow(expect.objectContaining({ option: 'middleware' }));
  }
});
