import { InvalidSubmissionError } from './errors.ts';
import type { StageResult } from './snapshot.ts';
import type { Submission } from './submission.ts';

/**
 * One submission or several; one is answered by one.
 *
 * @param args what the call was given
 */
export async function oneOrSeveral(
  [given, ...others]: readonly unknown[],
  accepted: (value: unknown) => Submission,
  store: (submissions: readonly Submission[]) => Promise<StageResult[]>,
): Promise<StageResult | StageResult[]> {
  refuseOthers(others);
  const isList = Array.isArray(given);
  const submissions = (isList ? (given as readonly unknown[]) : [given]).map(accepted);
  const results = await store(submissions);

  return isList ? results : results[0]!;
}

/** @throws InvalidSubmissionError */
export function refuseOthers(others: readonly unknown[]): void {
  if (others.length > 0) {
    throw new InvalidSubmissionError('submissions', 'be one, or a list of several');
  }
}
