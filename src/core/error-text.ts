import { cutToBytes, storable } from './text.ts';

/** How much of an error is kept, in UTF-8 bytes. */
export const maxErrorBytes = 8192;
const maxCauses = 10;

/**
 * Whatever was thrown, as a text that every database stores: name, message, stack and causes, cut at 8 KiB. Reading it
 * can't fail, even where a getter throws or a graph is circular.
 */
export function errorText(error: unknown): string {
  const parts: string[] = [];
  const seen = new Set<unknown>();

  for (let current = error; parts.length < maxCauses && !seen.has(current); current = read(current, 'cause')) {
    if (parts.length > 0 && current === undefined) {
      break;
    }
    seen.add(current);
    parts.push(describe(current));
  }

  return cutToBytes(storable(parts.join('\ncaused by: ')), maxErrorBytes);
}

function describe(error: unknown): string {
  if (typeof error !== 'object' || error === null) {
    return typeof error === 'string' ? error.slice(0, maxErrorBytes) : `${typeof error}: ${String(error)}`;
  }

  const message = text(read(error, 'message'));
  const stack = text(read(error, 'stack'));
  const head = `${text(read(error, 'name')) ?? 'Error'}: ${message ?? '(no message)'}`;

  // A stack begins with the message that the error had when it was made; one that was changed since is shown too.
  return stack?.includes(message ?? '') ? stack : [head, stack].filter(Boolean).join('\n');
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, maxErrorBytes) : undefined;
}

function read(value: unknown, property: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
    return undefined;
  }

  try {
    return (value as Record<string, unknown>)[property];
  } catch {
    // A getter or a proxy that throws has nothing to say about itself.
    return undefined;
  }
}
