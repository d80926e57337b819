import { expect, test } from '@jest/globals';
import type { EventLoop, JobsEvent } from '../../src/core/events.ts';
import { Maintenance, type MaintenancePart } from '../../src/executor/maintenance.ts';

test('a part that failed is tried again with the next turn, whosever turn that is, and then waits for its own', async () => {
  const ran: string[] = [];
  const told: unknown[] = [];
  const stopping = new AbortController();
  const part = (name: EventLoop, every: number, run: () => void = () => {}): MaintenancePart => ({
    name,
    every,
    run: async () => {
      ran.push(name);
      run();
    },
  });
  const fails = () => {
    if (ran.filter(name => name === 'resolve').length < 3) throw new Error('no database');
  };
  const ends = () => {
    if (ran.filter(name => name === 'prune').length === 5) stopping.abort();
  };
  const parts = [part('resolve', 100, fails), part('prune', 1, ends)];

  await new Maintenance(parts, 1, { emit: (event: JobsEvent) => void told.push(event) }).run(stopping.signal);

  expect(ran).toEqual(['resolve', 'prune', 'resolve', 'prune', 'resolve', 'prune', 'prune', 'prune']);
  expect(told).toMatchObject([
    { event: 'loop_failed', loop: 'resolve' },
    { event: 'loop_recovered', loop: 'resolve' },
  ]);
});
