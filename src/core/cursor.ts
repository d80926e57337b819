import { InvalidOptionError } from './errors.ts';
import type { ListPosition } from './queries.ts';
import { isStorable } from './text.ts';

/** Where a page ended, as opaque text; it may travel through a URL. */
export function cursorOf({ createdAt, scope, id }: ListPosition): string {
  return Buffer.from(JSON.stringify([createdAt, scope, id]), 'utf8').toString('base64url');
}

/** @throws InvalidOptionError for text that is no cursor of ours */
export function positionOf(cursor: string): ListPosition {
  try {
    const [createdAt, scope, id, ...rest] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    if (Number.isSafeInteger(createdAt) && isText(scope) && isText(id) && rest.length === 0) {
      return { createdAt: createdAt as number, scope, id };
    }
  } catch {
    // Falls through to the error below.
  }

  throw new InvalidOptionError('cursor', 'be the `next` of a page before', cursor);
}

/** It came through a URL: what no database could compare must not reach one. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && isStorable(value);
}
