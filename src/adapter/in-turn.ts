const lastOf = new WeakMap<object, Promise<unknown>>();

/**
 * Runs work on one transaction after what was asked for before it. A stage may be several statements: between two of them
 * another would be answered with a job that the first one then takes back.
 */
export function inTurn<T>(transaction: object, work: () => Promise<T>): Promise<T> {
  const before = lastOf.get(transaction) ?? Promise.resolve();
  const mine = before.then(work, work);
  lastOf.set(transaction, mine);

  return mine;
}
