const maxErrors = 100;

/**
 * What was thrown, then what caused it: `cause`, and the `errors` of an AggregateError; level by level, each once, a hundred at
 * the most. Anything may be thrown, and nothing here throws.
 */
export function withCauses(error: unknown): unknown[] {
  const found = new Set([error]);

  // A set's loop comes to what was added meanwhile, too.
  for (const each of found) {
    for (const cause of causesOf(each)) {
      if (found.size < maxErrors && cause !== undefined && cause !== null) {
        found.add(cause);
      }
    }
  }

  return [...found];
}

function causesOf(error: unknown): unknown[] {
  if (typeof error !== 'object' || error === null) {
    return [];
  }

  try {
    const { cause, errors } = error as { cause?: unknown; errors?: unknown };
    return [cause, ...(Array.isArray(errors) ? (errors as unknown[]).slice(0, maxErrors) : [])];
  } catch {
    // A getter or a proxy that throws has nothing to say about its causes.
    return [];
  }
}
