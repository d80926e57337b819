import { createHash } from 'node:crypto';

/** Lower-case hex SHA-256 of the text's UTF-8. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
