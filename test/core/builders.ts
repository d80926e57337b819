import type { Attempt } from '../../src/core/attempt.ts';
import { defineJob } from '../../src/core/definition.ts';
import { resolveRetryPolicy, type ResolvedRetryPolicy, type RetryPolicy } from '../../src/core/retry-policy.ts';

/** 2026-11-30T00:00:00Z in microseconds. */
export const now = Date.UTC(2026, 10, 30) * 1000;

export const sendMail = defineJob<unknown>()({ name: 'mail.send' });

export function anAttempt(different: Partial<Attempt> = {}): Attempt {
  return {
    scope: 'acme',
    id: 'order-1',
    attempt: 1,
    token: '6b2f6d4e-8e3b-4f7a-9d58-0f7c1f1c9a10',
    name: 'mail.send',
    version: '1',
    queue: 'default',
    priority: 0,
    payload: '{}',
    maxAttempts: 3,
    attemptLimit: 3,
    failureCount: 0,
    onInterrupt: 'hold',
    timeoutMs: null,
    retryPolicy: null,
    retryUntil: null,
    scheduledFor: now,
    metadata: {},
    trace: null,
    startedAt: now,
    ...different,
  };
}

export function aPolicy(policy: RetryPolicy = {}): ResolvedRetryPolicy {
  return resolveRetryPolicy(policy) as ResolvedRetryPolicy;
}
