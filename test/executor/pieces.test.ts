import { describe, expect, test } from '@jest/globals';
import type { AbortWhy } from '../../src/core/abort-reason.ts';
import { AttemptProgress } from '../../src/executor/attempt-progress.ts';
import { BackOff } from '../../src/executor/back-off.ts';
import { settlesWithin, sleep } from '../../src/executor/sleep.ts';
import { verdictFor, type Ending } from '../../src/executor/verdict.ts';
import { WakeUp } from '../../src/executor/wake-up.ts';
import { timers } from '../support/timers.ts';

describe('the verdict', () => {
  const threw: Ending = { kind: 'threw', error: 'thrown' };
  const returned: Ending = { kind: 'returned', value: 'value' };
  const invalid: Ending = { kind: 'payload_invalid', error: 'invalid' };

  test.each<[Ending, AbortWhy[], unknown]>([
    [returned, [], returned],
    [threw, [], threw],
    [invalid, [], invalid],
    [invalid, ['cancelled', 'timed_out', 'stopped'], invalid],
    [threw, ['cancelled'], { kind: 'cancelled', error: 'thrown' }],
    [threw, ['timed_out', 'cancelled'], { kind: 'cancelled', error: 'thrown' }],
    [threw, ['stopped', 'cancelled'], { kind: 'cancelled', error: 'thrown' }],
    [returned, ['cancelled'], returned],
    [threw, ['timed_out'], { kind: 'timed_out', error: 'thrown' }],
    [threw, ['stopped', 'timed_out'], { kind: 'timed_out', error: 'thrown' }],
    [returned, ['timed_out'], { kind: 'timed_out', error: 'reason' }],
    [threw, ['stopped'], 'recover'],
    [returned, ['stopped'], returned],
    [threw, ['lost'], 'nothing'],
    [returned, ['cancelled', 'lost'], 'nothing'],
    [invalid, ['lost'], 'nothing'],
  ])('of %j after %j is %j', (ending, whys, expected) => {
    const aborted = { wasAborted: (why: AbortWhy) => whys.includes(why), signal: AbortSignal.abort('reason') };

    const verdict = verdictFor(aborted, ending);

    expect(verdict.kind === 'settle' ? verdict.outcome : verdict.kind).toEqual(expected);
  });
});

describe('progress', () => {
  const reported = (...calls: Array<[number, string?]>) => {
    const progress = new AttemptProgress();
    calls.forEach(([percent, message]) => progress.report(percent, message));
    return progress.current;
  };

  test.each<[string, Array<[number, string?]>, unknown]>([
    ['is nothing before it is reported', [], null],
    ['is clamped below', [[-5, 'x']], { value: 0, message: 'x' }],
    ['is clamped above', [[Infinity]], { value: 100, message: null }],
    ['is rounded', [[33.4]], { value: 33, message: null }],
    [
      'never goes back, nor does its message',
      [
        [50, 'half'],
        [40, 'less'],
      ],
      { value: 50, message: 'half' },
    ],
    [
      'takes a new message for the same value',
      [
        [50, 'half'],
        [50, 'still'],
      ],
      { value: 50, message: 'still' },
    ],
    ['keeps its message until there is another', [[10, 'asking'], [20]], { value: 20, message: 'asking' }],
    ['has messages that a database can store', [[1, 'a\u0000b\ud800']], { value: 1, message: 'a\ufffdb\ufffd' }],
    ['has messages of at most 1 KiB', [[1, '€'.repeat(1000)]], { value: 1, message: '€'.repeat(341) }],
  ])('%s', (_, calls, expected) => {
    expect(reported(...calls)).toEqual(expected);
  });

  test.each([NaN, '50', undefined, null, {}])('refuses the value %p', value => {
    expect(() => new AttemptProgress().report(value as number)).toThrow('expected `percent` to be a number');
  });

  test('refuses a message that is no text', () => {
    expect(() => new AttemptProgress().report(1, 7 as never)).toThrow('expected `message` to be text');
  });

  test('is to be sent until it was, and again when it has changed', () => {
    const progress = new AttemptProgress();
    progress.report(10);
    const first = progress.unsent!;
    progress.report(20);
    progress.markSent(first);
    expect(progress.unsent).toEqual({ value: 20, message: null });

    progress.markSent(progress.unsent!);
    progress.report(20);
    expect(progress.unsent).toBeNull();
  });
});

describe('sleeping', () => {
  const never = new AbortController().signal;

  test('a notification that came before the sleep ends it, once', async () => {
    const wakeUp = new WakeUp();
    wakeUp.notify();
    await wakeUp.wait(null, never);

    wakeUp.clear();
    const slept = await settlesWithin(wakeUp.wait(null, never), 5);
    expect(slept).toBe(false);
  });

  test('a notification, an abort or the time ends a sleep, and leaves no timer and no listener', async () => {
    const timersBefore = timers();
    const controller = new AbortController();
    const wakeUp = new WakeUp();

    const woken = wakeUp.wait(1e12, controller.signal);
    wakeUp.notify();
    await woken;
    const stopped = sleep(1e12, controller.signal);
    expect(timers()).toBe(timersBefore + 1);
    controller.abort();
    await stopped;
    await sleep(1, never);

    expect(timers()).toBe(timersBefore);
  });

  test('a sleep longer than a timer can be does not end at once', async () => {
    const controller = new AbortController();

    const slept = await settlesWithin(sleep(2 ** 31, controller.signal), 20);
    controller.abort();

    expect(slept).toBe(false);
  });
});

test('delays double up to their limit, and begin anew after a success', () => {
  const backOff = new BackOff(50, 300);

  const delays = [backOff.next(), backOff.next(), backOff.next(), backOff.next(), backOff.next()];
  backOff.reset();

  expect(delays).toEqual([50, 100, 200, 300, 300]);
  expect(backOff.next()).toBe(50);
});
