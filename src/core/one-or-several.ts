import type { StageResult } from './snapshot.ts';
import type { Submission } from './submission.ts';

/** One submission or several; one is answered by one. */
export async function oneOrSeveral(
  given: Submission | readonly Submission[],
  accepted: (value: unknown) => Submission,
  store: (submissions: readonly Submission[]) => Promise<StageResult[]>,
): Promise<StageResult | StageResult[]> {
  const isList = Array.isArray(given);
  const submissions = (isList ? given : [given]).map(accepted);
  const results = await store(submissions);

  return isList ? results : results[0]!;
}
