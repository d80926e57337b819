import { expect, test } from '@jest/globals';
import fs from 'node:fs';

const page = fs.readFileSync('docs/guarantees.md', 'utf8');
const proofs = [...page.matchAll(/(test\/[\w/.-]+\.test\.ts): ((?:"[^"]+"(?:, )?)+)/g)].flatMap(([, file, titles]) => {
  return [...titles!.matchAll(/"([^"]+)"/g)].map(([, title]) => ({ file: file!, title: title! }));
});

test('the page of guarantees names tests', () => {
  expect(proofs.length).toBeGreaterThan(40);
});

test.each(proofs)('the test that it names is there: $title', ({ file, title }) => {
  expect(fs.readFileSync(file, 'utf8')).toContain(title);
});
