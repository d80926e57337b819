import type { RecurringJob } from '../core/recurring.ts';
import type { ResolvedRetryPolicy } from '../core/retry-policy.ts';
import type { JobState } from '../core/states.ts';
import type { OnInterrupt } from '../core/submission.ts';
import type { Row } from './session.ts';

export function toRecurringJob(row: Row): RecurringJob {
  return {
    scope: row.scope as string,
    id: row.id as string,
    cron: row.cron as string,
    timeZone: row.time_zone as string,
    template: {
      scope: row.scope as string,
      name: row.name as string,
      version: row.version as string,
      payload: row.payload as string,
      queue: row.queue as string,
      priority: Number(row.priority),
      maxAttempts: Number(row.max_attempts),
      onInterrupt: row.on_interrupt as OnInterrupt,
      timeoutMs: numberOrNull(row.timeout_ms),
      retryPolicy: parsedOrNull<ResolvedRetryPolicy | false>(row.retry_policy),
      lifetimeMs: numberOrNull(row.lifetime_ms),
      metadata: parsedOrNull<Record<string, string>>(row.metadata),
    },
    missed: row.missed === 'all' ? { upTo: Number(row.missed_limit) } : (row.missed as 'one' | 'none'),
    overlap: row.overlap as RecurringJob['overlap'],
    nextFireAt: numberOrNull(row.next_fire_at),
    lastFireAt: numberOrNull(row.last_fire_at),
    isPaused: Boolean(row.paused),
    lastState: (row.last_state ?? null) as JobState | null,
  };
}

function parsedOrNull<T>(value: unknown): T | null {
  return typeof value === 'string' ? (JSON.parse(value) as T) : null;
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}
