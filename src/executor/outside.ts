import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs a function in the async context in which this module was loaded, which is no request's and no transaction's. What an
 * executor sets going lives longer than the code that started, woke or stopped it, whose context it must not keep.
 */
export const outside = AsyncLocalStorage.snapshot();
