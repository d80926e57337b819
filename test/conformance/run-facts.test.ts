import { describe, expect, test } from '@jest/globals';
import { factsOn, report, runFacts, type Handle, type Harness } from '../../src/conformance/index.ts';
import { memoryHarness } from './memory-harness.ts';

const reads = 'an unknown job is not found by a cancel';

describe('examining a store without a test runner', () => {
  test('a call that never resolves fails its fact by the time limit, and the report names it', async () => {
    const harness = broken(store => (store.cancel = () => new Promise(() => {})));

    const results = await runFacts(harness, { only: reads, timeLimit: 20 });

    expect(report(harness, results)).toMatch(
      /^FAILS {5}an unknown job.*\n.*has not ended in 20 ms.*\n\n.*0 of 1 facts/,
    );
  });

  test('what a store throws is reported with its stack', async () => {
    const harness = broken(store => (store.cancel = async () => (undefined as unknown as { a: never }).a));

    expect(report(harness, await runFacts(harness, { only: reads }))).toMatch(
      /TypeError: .*\n +at .*run-facts\.test\.ts/,
    );
  });

  test('of plain values the report says which was expected', async () => {
    const harness = broken(store => (store.cancel = async () => 'finished'));

    expect(report(harness, await runFacts(harness, { only: reads }))).toContain('expected "not_found", got "finished"');
  });

  test('a text or a time limit that means nothing is refused', async () => {
    const harness = memoryHarness();

    for (const only of ['canccel', /canccel/]) {
      await expect(runFacts(harness, { only })).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'only' });
    }
    for (const timeLimit of [0, '25d', NaN] as const) {
      expect(() => factsOn(harness, undefined, { timeLimit })).toThrow(
        expect.objectContaining({ option: 'timeLimit' }),
      );
    }
  });

  test('a store that wakes nobody is not examined for it', async () => {
    const harness = { ...memoryHarness(), abilities: [] };

    const results = await runFacts(harness, { only: 'a store that wakes executors' });

    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['left out']));
    expect(report(harness, results)).toMatch(/lacks wakeUp[^]*: 0 of \d+ facts hold, 0 fail/);
  });

  test('a store that ignores where a page goes on is told so, for it never comes to an end', async () => {
    const harness = broken(store => {
      const list = store.list.bind(store);
      store.list = (filter, { limit }) => list(filter, { after: null, limit });
    });

    const [result] = await runFacts(harness, { only: 'pages miss no job' });

    expect(result).toMatchObject({ outcome: 'fails' });
  });
});

/** The memory store with one call replaced. */
function broken(breakIt: (store: Handle['store']) => unknown): Harness {
  const harness = memoryHarness();

  return {
    ...harness,
    create: async () => {
      const subject = await harness.create();
      breakIt(subject.store);
      return subject;
    },
  };
}
