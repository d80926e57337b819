import type { AnyDefinition } from '../core/definition.ts';
import type { JobSnapshot } from '../core/snapshot.ts';
import type { StagedText } from '../core/test-bench.ts';

/** A job as it is stored, with what a handler would be given. */
export interface StagedJob<P> extends JobSnapshot {
  readonly payload: P;
  /** The stored text itself. */
  readonly payloadText: string;
}

/** @throws PayloadInvalidError when a stored payload doesn't fit the definition's schema */
export function stagedJob({ job, payload }: StagedText, definition: AnyDefinition | undefined): StagedJob<unknown> {
  const parsed: unknown = definition === undefined ? JSON.parse(payload) : definition.parse(payload);

  return Object.freeze({ ...job, payload: parsed, payloadText: payload });
}
