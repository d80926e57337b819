import strict from 'node:assert/strict';

interface Assertions {
  ok(value: unknown, message?: string): asserts value;
  equal<T>(actual: unknown, expected: T, message?: string): asserts actual is T;
  notEqual(actual: unknown, expected: unknown, message?: string): void;
  deepEqual(actual: unknown, expected: unknown, message?: string): void;
  throws(call: () => unknown, check: (error: unknown) => boolean): void;
  rejects(call: () => Promise<unknown>, check?: (error: unknown) => boolean): Promise<void>;
}

/**
 * Strict assertions of Node, but for lists and objects that were made in another realm, as native database drivers make
 * them under Jest: these are compared by what they hold.
 */
export const assert: Assertions = {
  ok: strict.ok,
  equal: strict.equal,
  notEqual: strict.notEqual,
  deepEqual: (actual, expected, message) => strict.deepEqual(inThisRealm(actual), inThisRealm(expected), message),
  throws: (call, check) => strict.throws(call, check),
  rejects: (call, check) => (check === undefined ? strict.rejects(call) : strict.rejects(call, check)),
};

export function isTypeError(error: unknown): boolean {
  return (error as Error).name === 'TypeError';
}

function inThisRealm(value: unknown): unknown {
  if (Array.isArray(value)) {
    return Array.from(value, inThisRealm);
  }

  switch (Object.prototype.toString.call(value)) {
    case '[object Object]':
      return Object.fromEntries(Object.entries(value as object).map(([field, held]) => [field, inThisRealm(held)]));
    case '[object Date]':
      return new Date((value as Date).getTime());
    default:
      return value;
  }
}
