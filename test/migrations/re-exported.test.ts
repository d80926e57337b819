import { expect, test } from '@jest/globals';
import { drivers } from '../support/orm.ts';
import { spawnNode } from '../support/child.ts';

test.each(drivers)('on %s a migration re-exported from the host’s folder runs like one of its own', async driver => {
  const child = spawnNode('test/migrations/re-exporting-host/main.ts', [driver]);
  const { code } = await child.exited;

  expect(child.stderr()).toBe('');
  expect(child.stdout().trim()).toBe('Migration20261130000000_durable_jobs ran, the diff is empty');
  expect(code).toBe(0);
});
