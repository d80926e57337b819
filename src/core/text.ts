const nul = '\u0000';

/** Whether every database stores this text unchanged: no unpaired surrogate (Node would replace it), no NUL (PostgreSQL refuses it). */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes(nul);
}

/** The text made storable: what a database would refuse or change is replaced by U+FFFD, visibly. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll(nul, '\ufffd');
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** The text cut to so many UTF-8 bytes, on a character boundary. */
export function cutToBytes(text: string, maxBytes: number): string {
  // A UTF-16 unit has at least one byte, so a text of 20 MB is not encoded whole to find its first 8 KiB.
  const head = text.slice(0, maxBytes);
  const bytes = Buffer.from(head, 'utf8');
  if (bytes.length <= maxBytes) {
    return head;
  }

  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) {
    end--;
  }

  return bytes.toString('utf8', 0, end);
}

/** The text with its middle left out if it is longer than so many characters: a driver's error has its reason at the end. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) {
    return text;
  }
  const tail = Math.floor(maxLength / 4);
  const head = maxLength - tail - 3;

  return `${text.slice(0, boundary(text, head))} … ${text.slice(boundary(text, text.length - tail))}`;
}

/** The same index, or the one before where that would split a surrogate pair. */
function boundary(text: string, index: number): number {
  const isInsidePair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(index - 1, index + 1));
  return isInsidePair ? index - 1 : index;
}
