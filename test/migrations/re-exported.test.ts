import { expect, test } from '@jest/globals';
import { jobMigrations } from '../../migrations/index.ts';
import { drivers } from '../support/orm.ts';
import { spawnNode } from '../support/child.ts';

test.each(drivers)('on %s migrations re-exported from the host’s folder run like its own', async driver => {
  const child = spawnNode('test/migrations/re-exporting-host/main.ts', [driver]);
  const { code } = await child.exited;

  expect(child.stderr()).toBe('');
  const names = jobMigrations.map(({ name }) => name).join(', ');
  expect(child.stdout().trim()).toBe(`${names} ran, the diff is empty`);
  expect(code).toBe(0);
});
