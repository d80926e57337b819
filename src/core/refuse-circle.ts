import { InvalidSubmissionError } from './errors.ts';
import { keyText } from './job-key.ts';
import type { Submission } from './submission.ts';

/** @throws InvalidSubmissionError where jobs of one call wait for each other: none of them would ever start */
export function refuseCircle(submissions: readonly Submission[]): void {
  if (submissions.every(({ after }) => after.length === 0)) {
    return;
  }

  const open = new Map(submissions.map(submission => [keyText(submission), submission]));
  const isFree = ({ scope, after }: Submission) => after.every(id => !open.has(keyText({ scope, id })));

  let free;
  do {
    free = [...open].filter(([, submission]) => isFree(submission));
    free.forEach(([key]) => open.delete(key));
  } while (free.length > 0);

  const [first] = open.values();
  if (first !== undefined) {
    throw new InvalidSubmissionError('after', `not make a circle: "${first.id}" would wait for itself`);
  }
}
