// Writes docs/conformance-facts.md from the titles of the facts. With --check it only fails where the page is stale.
//   node scripts/conformance-facts.mjs [--check]
import fs from 'node:fs';
import path from 'node:path';
import { factGroups } from '../src/conformance/index.ts';

export const pagePath = path.join(import.meta.dirname, '../docs/conformance-facts.md');

export function factsPage() {
  const count = factGroups.reduce((sum, { facts }) => sum + facts.length, 0);

  return [
    '# Conformance facts',
    `What holds for every store of \`mikro-orm-jobs\`: ${count} facts, each examined on SQLite, on PostgreSQL and in memory, and each seen failing on a store that was broken on purpose. [How to examine a store of your own](writing-a-store.md).`,
    'This page is generated from the titles of the facts: `npm run conformance:facts`.',
    ...factGroups.flatMap(({ subject, facts }) => [`## ${subject}`, facts.map(line).join('\n')]),
  ]
    .join('\n\n')
    .concat('\n');
}

function line({ title, needs }) {
  const sentence = title.replaceAll(/[*_<>]/g, '\\$&');
  return `- ${sentence}${needs.length === 0 ? '' : ` (needs \`${needs.join('`, `')}\`)`}`;
}

function main() {
  const stored = fs.existsSync(pagePath) ? fs.readFileSync(pagePath, 'utf8') : '';
  const isStale = stored !== factsPage();

  if (process.argv.includes('--check')) {
    console.log(isStale ? 'docs/conformance-facts.md is stale: npm run conformance:facts' : 'conformance facts: ok');
    process.exitCode = isStale ? 1 : 0;
  } else {
    fs.writeFileSync(pagePath, factsPage());
  }
}

if (process.argv[1]?.endsWith('conformance-facts.mjs')) main();
