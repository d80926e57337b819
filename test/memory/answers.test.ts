import { expect, test } from '@jest/globals';
import { memoryStores, type MemoryStores } from '../../src/memory/index.ts';
import { ManualClock, sendMail } from './given.ts';

const key = { scope: '', id: 'm1' };

async function aRunningJob({ jobs }: MemoryStores) {
  await jobs.register({ id: 'e1', name: 'e1', host: 'alpha', leaseUntil: null, metadata: {} });
  await jobs.submit([sendMail.create({ to: 'ada' }, { id: 'm1', metadata: { tenant: 'acme' } })]);

  return (await jobs.tryStart(key, 'e1'))!;
}

test('whoever holds an answer can change nothing through it, nor through what was submitted', async () => {
  const stores = memoryStores(new ManualClock());
  const attempt = await aRunningJob(stores);
  const submission = sendMail.create({ to: 'ada' }, { id: 'nightly' });
  await stores.recurring.upsertRecurring({
    ...key,
    cron: '0 3 * * *',
    timeZone: 'UTC',
    template: submission,
    missed: { upTo: 3 },
    overlap: 'skip',
    nextFireAt: 0,
  });
  await stores.queues.setQueueLimit('default', 3, 'ada');
  const read = async () => ({
    job: await stores.jobs.get(key),
    attempts: await stores.jobs.attempts(key),
    recurring: await stores.recurring.getRecurring(key),
    queues: await stores.queues.queueSettings(),
  });
  const before = JSON.stringify(await read());

  const answers = await read();
  for (const value of [attempt, ...Object.values(answers)]) {
    deface(value);
  }

  expect(JSON.stringify(await read())).toBe(before);
});

test('an answer stays as it was when it was given', async () => {
  const stores = memoryStores(new ManualClock());
  const attempt = await aRunningJob(stores);
  const running = await stores.jobs.get(key);

  await stores.jobs.settle([{ ...attempt, progress: null, outcome: 'succeeded', resultRef: null }]);

  expect(running).toMatchObject({ state: 'running', revision: 2 });
  expect(await stores.jobs.get(key)).toMatchObject({ state: 'succeeded', revision: 3 });
});

test('a call that throws in its middle has written nothing', async () => {
  const stores = memoryStores(new ManualClock());
  const attempt = await aRunningJob(stores);
  const before = await stores.jobs.get(key);

  const reports = [30, 101].map(value => ({ ...attempt, value, message: null }));
  await expect(stores.jobs.progress(reports)).rejects.toThrow(/progress is from 0 to 100/);

  expect(await stores.jobs.get(key)).toEqual(before);
  expect(await stores.jobs.attempts(key)).toMatchObject([{ progress: 0 }]);
});

/** Overwrites all that can be overwritten, at every depth. */
function deface(value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    return;
  }
  if (value instanceof Date) {
    value.setTime(0);
  }
  for (const property of Object.keys(value)) {
    deface(Reflect.get(value, property));
    Reflect.set(value, property, 'defaced');
  }
}
