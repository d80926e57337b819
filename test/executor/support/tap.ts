import type { IdempotencyStore } from '../../../src/core/idempotency.ts';
import type { JobStore } from '../../../src/core/store.ts';

type Method =
  | 'subscribe' | 'register' | 'retire' | 'claim' | 'progress' | 'status' | 'settle' | 'release' | 'recover' | 'running' | 'prune'; // prettier-ignore

/** Stands between the executor and the real store: sees each call, may hold it up, fail it, or lose its answer. */
type KeyMethod = 'claimKey' | 'completeKey' | 'releaseKey' | 'pruneKeys';

export type Taps = {
  [M in Method]?: (call: () => ReturnType<JobStore[M]>, ...args: Parameters<JobStore[M]>) => ReturnType<JobStore[M]>;
} & {
  [M in KeyMethod]?: (
    call: () => ReturnType<IdempotencyStore[M]>,
    ...args: Parameters<IdempotencyStore[M]>
  ) => ReturnType<IdempotencyStore[M]>;
} & {
  /** Between the handler's end and the decision about its attempt. */
  readonly afterHandler?: () => Promise<void>;
  /** The settlement that `job.transactional` makes. */
  readonly settleInTransaction?: (call: () => ReturnType<JobStore['settle']>) => ReturnType<JobStore['settle']>;
  /** The whole of `job.transactional`, its commit included. */
  readonly transactional?: <T>(call: () => Promise<T>) => Promise<T>;
};

export function tapped<S extends object>(store: S, taps: Taps): S {
  return new Proxy(store, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') {
        return member;
      }

      const call = (...args: unknown[]) => member.apply(target, args);
      const tap = taps[property as Method | KeyMethod] as
        ((call: () => unknown, ...args: unknown[]) => unknown) | undefined;

      return (...args: unknown[]) => (tap === undefined ? call(...args) : tap(() => call(...args), ...args));
    },
  });
}
