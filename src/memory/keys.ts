import type { JobKey } from '../core/job-key.ts';

/** One text for a job or a recurring job, with the length of the scope, so that "a"+"bc" and "ab"+"c" differ. */
export function keyOf({ scope, id }: JobKey): string {
  return `${scope.length}:${scope}${id}`;
}

export function attemptKeyOf({ scope, id, attempt }: JobKey & { readonly attempt: number }): string {
  return `${attempt}/${keyOf({ scope, id })}`;
}

/** What an active job holds of its unique key. */
export function uniqueKeyOf(scope: string, uniqueKey: string): string {
  return keyOf({ scope, id: uniqueKey });
}
