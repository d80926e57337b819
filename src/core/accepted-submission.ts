import type { SettableClock } from './settable-clock.ts';
import { checkedSubmission, delayedFrom, type Submission } from './submission.ts';

/**
 * What a host's submissions go through before they are stored. `create()` counts a relative delay from the wall clock; while the
 * clock stands still for a test, it counts from there, once: the same submission stays the same request.
 */
export function acceptedBy(clock: SettableClock): (value: unknown) => Submission {
  const delayed = new WeakMap<Submission, Submission>();

  return value => {
    const submission = checkedSubmission(value);
    if (clock.isStopped && !delayed.has(submission)) {
      delayed.set(submission, delayedFrom(submission, clock.now()));
    }

    return delayed.get(submission) ?? submission;
  };
}
