import type { AttemptRef } from '../core/attempt.ts';

/**
 * Judges a batch of attempts, by position: in one round, and in another one what names an attempt again. A statement that met
 * an attempt twice would let either word count, and one on the job and the other on the attempt.
 */
export async function eachOnce<A extends AttemptRef, R>(
  asked: readonly A[],
  judge: (once: readonly A[]) => Promise<readonly R[]>,
): Promise<R[]> {
  if (asked.length === 0) {
    return [];
  }

  const isRepeated = repetitions(asked);
  const once = [...(await judge(asked.filter((_, index) => !isRepeated[index])))];
  const again = await eachOnce(
    asked.filter((_, index) => isRepeated[index]),
    judge,
  );

  return isRepeated.map(isRepeated => (isRepeated ? again : once).shift()!);
}

function repetitions(attempts: readonly AttemptRef[]): boolean[] {
  const seen = new Set<string>();

  return attempts.map(({ scope, id, attempt, token }) => {
    const sizeBefore = seen.size;
    return seen.add(`${token}/${attempt}/${id}/${scope}`).size === sizeBefore;
  });
}
