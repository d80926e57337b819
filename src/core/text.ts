const nul = '\u0000';

/** Whether every database stores this text unchanged: no unpaired surrogate (Node would replace it), no NUL (PostgreSQL refuses it). */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes(nul);
}

/** The text made storable: what a database would refuse or change is replaced by U+FFFD, visibly. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll(nul, '\ufffd');
}

/** The text cut to so many UTF-8 bytes, on a character boundary. */
export function cutToBytes(text: string, maxBytes: number): string {
  // A character is at most three bytes a UTF-16 unit, so a text of 20 MB is not encoded whole to find its first 8 KiB.
  const head = text.slice(0, maxBytes);
  const bytes = Buffer.from(head, 'utf8');

  if (bytes.length <= maxBytes) {
    return isCutInsidePair(text, head.length) ? head.slice(0, -1) : head;
  }

  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) {
    end--;
  }

  return bytes.toString('utf8', 0, end);
}

function isCutInsidePair(text: string, end: number): boolean {
  const last = text.charCodeAt(end - 1);
  return end < text.length && last >= 0xd800 && last <= 0xdbff;
}
