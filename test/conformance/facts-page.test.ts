import { expect, test } from '@jest/globals';
import fs from 'node:fs';
import { facts } from '../../src/conformance/index.ts';

test('docs/conformance-facts.md has the title of every fact', async () => {
  const { factsPage, pagePath } = await import('../../scripts/conformance-facts.mjs' as string);

  expect(fs.readFileSync(pagePath, 'utf8')).toBe(factsPage());
});

test('every fact has a title of its own', () => {
  expect(new Set(facts.map(({ title }) => title)).size).toBe(facts.length);
});
