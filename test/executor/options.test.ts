import { hostname } from 'node:os';
import { expect, test } from '@jest/globals';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { resolveExecutorOptions, type ExecutorOptions } from '../../src/core/executor-options.ts';

const local = { wakeUp: 'local', severalProcesses: false } as const;

test('every option of an executor has a default', () => {
  const options = resolveExecutorOptions({}, local);

  expect(options).toEqual({
    concurrency: 10,
    queues: null,
    pollIntervalMs: 5000,
    progressIntervalMs: 1000,
    renewEveryMs: 15_000,
    maintenanceIntervalMs: 30_000,
    retention: { succeeded: 2_592_000_000, cancelled: 2_592_000_000, failed: null, interrupted: null },
    drainTimeoutMs: 30_000,
    abortGraceMs: 5000,
    name: hostname(),
    leaseMs: 60_000,
    clockSkewMs: 5000,
  });
  expect(Object.isFrozen(options)).toBe(true);
});

test('an executor polls every second where no commit wakes it', () => {
  expect(resolveExecutorOptions({}, { ...local, wakeUp: 'none' }).pollIntervalMs).toBe(1000);
});

test('durations have units, a queue counts once', () => {
  const given = { pollInterval: '2m', drainTimeout: 0, queues: ['mail', 'mail', 'bills'] } as const;

  const { pollIntervalMs, drainTimeoutMs, queues } = resolveExecutorOptions(given, local);

  expect({ pollIntervalMs, drainTimeoutMs, queues }).toEqual({
    pollIntervalMs: 120_000,
    drainTimeoutMs: 0,
    queues: ['mail', 'bills'],
  });
});

test('a lease may be as short as its renewals and the skew of the clocks allow; without one nothing of it is checked', () => {
  expect(resolveExecutorOptions({ lease: '23s' }, local).leaseMs).toBe(23_000);
  expect(resolveExecutorOptions({ lease: false, renewEvery: '5m' }, local).leaseMs).toBeNull();
});

test.each<[string, object]>([
  ['concurrency', { concurrency: 0 }],
  ['concurrency', { concurrency: 1.5 }],
  ['concurrency', { concurrency: NaN }],
  ['concurrency', { concurrency: Infinity }],
  ['concurrency', { concurrency: '10' }],
  ['queues', { queues: [] }],
  ['queues', { queues: 'mail' }],
  ['queues', { queues: [''] }],
  ['queues', { queues: ['\ud800'] }],
  ['retention.failed', { retention: { failed: '1s' } }],
  ['pollInterval', { pollInterval: 9 }],
  ['pollInterval', { pollInterval: NaN }],
  ['pollInterval', { pollInterval: Infinity }],
  ['pollInterval', { pollInterval: '5 parsecs' }],
  ['progressInterval', { progressInterval: 0 }],
  ['renewEvery', { renewEvery: -1 }],
  ['renewEvery', { renewEvery: '1s', progressInterval: '2s' }],
  ['drainTimeout', { drainTimeout: -1 }],
  ['drainTimeout', { drainTimeout: Infinity }],
  ['abortGrace', { abortGrace: NaN }],
  ['name', { name: '' }],
  ['name', { name: 'x'.repeat(256) }],
  ['name', { name: 7 }],
  ['lease', { lease: true }],
  ['lease', { lease: '22s' }],
  ['lease', { lease: '60s', renewEvery: '50s' }],
  ['lease', { lease: '60s', clockSkew: '40s' }],
  ['clockSkew', { clockSkew: -1 }],
  ['maintenanceInterval', { maintenanceInterval: 5 }],
  ['concurency', { concurency: 3 }],
])('a bad %s is refused by name: %j', (option, options) => {
  const refuse = () => resolveExecutorOptions(options as ExecutorOptions, local);

  expect(refuse).toThrow(InvalidOptionError);
  expect(refuse).toThrow(`\`${option}\``);
});
