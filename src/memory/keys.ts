import { keyText, type JobKey } from '../core/job-key.ts';

export { keyText as keyOf } from '../core/job-key.ts';

export function attemptKeyOf({ scope, id, attempt }: JobKey & { readonly attempt: number }): string {
  return `${attempt}/${keyText({ scope, id })}`;
}

/** What an active job holds of its unique key. */
export function uniqueKeyOf(scope: string, uniqueKey: string): string {
  return keyText({ scope, id: uniqueKey });
}
