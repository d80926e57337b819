import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { factGroups, facts } from '../../src/conformance/index.ts';
import type { OpenHarness } from './mikro-orm-harness.ts';

/** One test for each fact of the kit, on a database of the suite's own. */
export function everyFactHolds(open: () => OpenHarness | Promise<OpenHarness>): void {
  let harness: OpenHarness;
  beforeAll(async () => void (harness = await open()));
  afterAll(() => harness.drop());

  for (const { subject, facts } of factGroups) {
    describe(subject, () => {
      for (const { title, run } of facts) test(title, () => run(harness));
    });
  }

  test('no fact is left out', () => {
    expect(facts.flatMap(({ needs }) => needs).filter(need => !harness.abilities.includes(need))).toEqual([]);
  });
}
