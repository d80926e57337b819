import { InvalidSubmissionError } from './errors.ts';
import { sha256 } from './sha256.ts';
import { isStorable } from './text.ts';

/**
 * The scope as the key holds it: lower-case hex SHA-256 of its UTF-8 bytes. So no collation, trimming or case folding of
 * a database can make two scopes one.
 */
export function scopeHash(scope: string): string {
  const known = hashes.get(scope);
  if (known !== undefined) {
    return known;
  }

  const hash = sha256(checkedScope(scope));
  if (hashes.size === maxHashes) {
    hashes.clear();
  }
  hashes.set(scope, hash);

  return hash;
}

/** Every statement hashes the scopes of its jobs, which are few: a tenant's, or one for all. */
const hashes = new Map<string, string>();
const maxHashes = 1000;

/** @throws InvalidSubmissionError for text that has no exact UTF-8: two such scopes would share one hash */
export function checkedScope(scope: string): string {
  if (typeof scope !== 'string' || !isStorable(scope)) {
    throw new InvalidSubmissionError('scope', 'be well-formed text without NUL');
  }

  return scope;
}

/** One hash for scope and key together, length-prefixed so that "a"+"bc" and "ab"+"c" differ. */
export function uniqueHash(scope: string, key: string): string {
  return sha256(`${scope.length}:${scope}${key.length}:${key}`);
}
