/** Why a job or an attempt ended as it did: stable strings, stored beside the error text. */
export const failureReasons = [
  'handler_error',
  'attempts_exhausted',
  'permanent_error',
  'throttled',
  'timeout',
  'retry_lifetime_expired',
  'payload_invalid',
  'result_invalid',
  'cancel_requested',
  'cancelled_by_parent',
  'lease_lapsed',
  'instance_restart',
  'shutdown',
] as const;
export type FailureReason = (typeof failureReasons)[number];
