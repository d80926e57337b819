import { inspect } from 'node:util';
import { cutToBytes, shortened, storable } from './text.ts';
import { withCauses } from './with-causes.ts';

/** How much of an error is kept, in UTF-8 bytes. */
export const maxErrorBytes = 8192;
const maxErrors = 10;
const maxMessageLength = 4096;
/** Some twenty frames: a long stack must not take the place of the causes. */
const maxTraceLength = 2048;

/**
 * Whatever was thrown, as a text that every database stores: name, message and stack, and the same of its causes, cut at
 * 8 KiB. Reading it can't fail, even where a getter throws or a graph is circular.
 */
export function errorText(error: unknown): string {
  const texts = withCauses(error).slice(0, maxErrors).map(describe);

  return cutToBytes(storable(texts.join('\ncaused by: ')), maxErrorBytes);
}

function describe(error: unknown): string {
  if (typeof error === 'string' && error !== '') {
    return shortened(error, maxMessageLength);
  }

  const message = read(error, 'message');
  const stack = read(error, 'stack');
  if (message === undefined && stack === undefined) {
    return `not an error: ${inspected(error)}`;
  }

  // Not the stack's own first line: it holds the name and message that the error had when it was made.
  const head = `${read(error, 'name') || 'Error'}: ${shortened(message || '(no message)', maxMessageLength)}`;
  const trace = traceOf(stack ?? '', message ?? '');

  return trace === '' ? head : `${head}\n${trace}`;
}

/** The lines of a stack below name and message, which may have several lines of their own. */
function traceOf(stack: string, message: string): string {
  const header = `: ${message.slice(0, maxMessageLength)}`;
  const headerStart = stack.indexOf(header);
  const frames = stack.indexOf('\n    at ', headerStart === -1 ? 0 : headerStart + header.length);

  if (frames !== -1) {
    return stack.slice(frames + 1, frames + 1 + maxTraceLength);
  }
  return headerStart === -1 ? stack.slice(0, maxTraceLength) : '';
}

/** What a value looks like, without running code of its own. */
function inspected(value: unknown): string {
  try {
    return inspect(value, { depth: 2, customInspect: false, maxArrayLength: 20, maxStringLength: 1000 });
  } catch {
    return `of type ${typeof value}, it can't be shown`;
  }
}

function read(error: unknown, property: 'name' | 'message' | 'stack'): string | undefined {
  try {
    const value = (error as Partial<Record<typeof property, unknown>>)[property];
    return typeof value === 'string' ? value : undefined;
  } catch {
    // Null, undefined, or a getter or a proxy that throws.
    return undefined;
  }
}
