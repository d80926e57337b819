/** Where a job comes from, as W3C Trace Context says it. */
export interface TraceContext {
  /** `traceparent`: `00-<trace id>-<parent id>-<flags>`, in lower case. */
  readonly traceParent: string;
  /** `tracestate`, of the tracing systems on the way; up to 512 characters. */
  readonly traceState?: string;
}

const maxParentLength = 128;
const maxStateLength = 512;
const parentForm = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-[\x21-\x7e]+)?$/;
const stateForm = /^[\x20-\x7e\t]+$/;

/**
 * What of a value is a trace context; null: nothing. It never throws, since a broken header must not cost a job: a parent that is none
 * drops the whole, a state that is none is left out.
 */
export function traceContextOf(value: unknown): TraceContext | null {
  const { traceParent, traceState } = (value ?? {}) as { readonly [field: string]: unknown };
  if (typeof traceParent !== 'string' || !isParent(traceParent)) {
    return null;
  }

  return Object.freeze(isState(traceState) ? { traceParent, traceState } : { traceParent });
}

/** Later versions may say more at the end; the first one says exactly this. */
function isParent(parent: string): boolean {
  return (
    parent.length <= maxParentLength && parentForm.test(parent) && (parent.length === 55 || !parent.startsWith('00'))
  );
}

function isState(state: unknown): state is string {
  return typeof state === 'string' && state.length <= maxStateLength && stateForm.test(state);
}
