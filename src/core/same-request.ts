import type { IdentityDifference } from './errors.ts';
import type { Submission } from './submission.ts';

/** The six fields that make two requests the same one, compared exactly. */
export type RequestFields = Pick<Submission, 'name' | 'version' | 'payload' | 'queue' | 'maxAttempts' | 'notBefore'>;

/**
 * Where a submission differs from what is stored under its identity; empty: it is the same request. Texts are compared as they
 * are, JSON is not normalised, and a missing not-before differs from one at the time of creation.
 */
export function differencesBetween(stored: RequestFields, submitted: RequestFields): IdentityDifference[] {
  const plain = (['name', 'version', 'queue', 'maxAttempts'] as const)
    .filter(field => stored[field] !== submitted[field])
    .map(field => ({ field, stored: stored[field], submitted: submitted[field] }));
  const payload = stored.payload === submitted.payload ? [] : [{ field: 'payload' as const }];
  const notBefore =
    stored.notBefore?.getTime() === submitted.notBefore?.getTime()
      ? []
      : [{ field: 'notBefore' as const, stored: stored.notBefore, submitted: submitted.notBefore }];

  return [...plain, ...payload, ...notBefore];
}
