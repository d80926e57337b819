import { describe, expect, test } from '@jest/globals';
import {
  activeStates,
  attemptStates,
  finishedStates,
  isFinished,
  jobStates,
  moves,
  retryableStates,
  type JobState,
} from '../../src/core/states.ts';

const table = Object.entries(moves) as [string, { from: readonly JobState[]; to: readonly JobState[] }][];

test('a job is active or finished, never both, never neither', () => {
  expect([...activeStates, ...finishedStates]).toEqual([...jobStates]);
  expect(jobStates.filter(isFinished)).toEqual([...finishedStates]);
});

test.each(table)('%s leaves and reaches states of the model only', (_, { from, to }) => {
  expect([...from, ...to].filter(state => !jobStates.includes(state))).toEqual([]);
});

test('every state is reached from a submission', () => {
  const reached = new Set<JobState>(moves.stage.to);

  for (const state of reached) {
    table.filter(([, { from }]) => from.includes(state)).forEach(([, { to }]) => to.forEach(next => reached.add(next)));
  }

  expect(new Set(jobStates)).toEqual(reached);
});

describe('who leaves which state', () => {
  test.each<[JobState, string[]]>([
    ['awaiting', ['cancel']],
    ['queued', ['claim', 'cancel', 'runNow']],
    ['running', ['progress', 'settle', 'release', 'recover', 'cancel']],
    ['succeeded', []],
    ['failed', ['retry']],
    ['cancelled', ['retry']],
    ['interrupted', ['retry']],
  ])('%s: %j', (state, expected) => {
    expect(table.filter(([, { from }]) => from.includes(state)).map(([move]) => move)).toEqual(expected);
  });

  test('only a claim starts a job', () => {
    const starting = table.filter(([, { from, to }]) => to.includes('running') && !from.includes('running'));

    expect(starting.map(([move]) => move)).toEqual(['claim']);
  });

  test('only what owns an attempt or cancels ends a job', () => {
    const ending = table.filter(([, { to }]) => to.some(isFinished)).map(([move]) => move);

    expect(ending).toEqual(['settle', 'release', 'recover', 'cancel']);
  });

  test('retry takes what has finished, but nothing that succeeded', () => {
    expect(moves.retry.from).toEqual([...retryableStates]);
    expect(finishedStates.filter(state => !(retryableStates as readonly JobState[]).includes(state))).toEqual(['succeeded']);
  });
}); // prettier-ignore

test('an attempt ends as its job does, or snoozed', () => {
  const ends = attemptStates.filter(state => state !== 'running' && state !== 'snoozed');

  expect(ends).toEqual([...finishedStates]);
});
