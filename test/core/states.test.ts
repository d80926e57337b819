import { expect, test } from '@jest/globals';
import {
  activeStates,
  attemptStates,
  finishedStates,
  isFinished,
  jobStates,
  retryableStates,
  type JobState,
} from '../../src/core/states.ts';

test('a job is active or finished, never both, never neither', () => {
  expect([...activeStates, ...finishedStates]).toEqual([...jobStates]);
  expect(jobStates.filter(isFinished)).toEqual([...finishedStates]);
});

test('retry takes what has finished, but nothing that succeeded', () => {
  const isRetried = (state: JobState) => (retryableStates as readonly JobState[]).includes(state);

  expect(finishedStates.filter(state => !isRetried(state))).toEqual(['succeeded']);
});

test('an attempt ends as its job does, or snoozed', () => {
  const ends = attemptStates.filter(state => state !== 'running' && state !== 'snoozed');

  expect(ends).toEqual([...finishedStates]);
});
