import { beforeEach, describe, expect, test } from '@jest/globals';
import { JobIdentityConflictError } from '../../src/core/errors.ts';
import { MemoryJobs } from '../../src/memory/index.ts';
import { until } from '../support/until.ts';
import { ManualClock, sendMail, silent, untilState, whileRunning } from './given.ts';

let clock: ManualClock;
let jobs: MemoryJobs;

beforeEach(() => {
  clock = new ManualClock();
  jobs = new MemoryJobs({ clock, logger: silent });
});

describe('an executor on memory', () => {
  test('runs what is submitted, and its result and attempt can be read', async () => {
    const received: unknown[] = [];
    const handler = jobs.handler(sendMail, job => {
      received.push(job.payload, job.em);
      return 'mail/1';
    });

    await whileRunning(jobs, [handler], async () => {
      await jobs.submit(sendMail.create({ to: 'ada' }, { id: 'm1' }));
      await untilState(jobs, 'm1', 'succeeded');
    });

    expect(received).toEqual([{ to: 'ada' }, undefined]);
    expect(await jobs.scope('').get('m1')).toMatchObject({ resultRef: 'mail/1', attemptCount: 1, failureCount: 0 });
    expect(await jobs.scope('').attempts('m1')).toMatchObject([
      { attempt: 1, state: 'succeeded', resultRef: 'mail/1' },
    ]);
  });

  test('tries a failed job again when its time has come, and no oftener than allowed', async () => {
    const handler = jobs.handler(sendMail, () => {
      throw new Error('mailbox busy');
    });

    await whileRunning(jobs, [handler], async () => {
      await jobs.submit(sendMail.create({ to: 'ada' }, { id: 'm1' }));
      await until(async () => (await jobs.scope('').get('m1'))?.failureCount === 1);
      expect(await jobs.scope('').get('m1')).toMatchObject({
        state: 'queued',
        nextRunAt: new Date('2030-01-01T00:01:00Z'),
      });

      clock.advance(60_000);
      await untilState(jobs, 'm1', 'failed');
    });

    expect(await jobs.scope('').get('m1')).toMatchObject({ failureReason: 'attempts_exhausted', failureCount: 2 });
    expect(await jobs.scope('').retry('m1')).toBe('no_starts_left');
  });

  test('tells a running handler of a cancel, and the job ends cancelled whatever it returns', async () => {
    const handler = jobs.handler(sendMail, async job => {
      await new Promise(resolve => job.signal.addEventListener('abort', resolve));
      return 'mail/1';
    });

    await whileRunning(jobs, [handler], async () => {
      await jobs.submit(sendMail.create({ to: 'ada' }, { id: 'm1' }));
      await untilState(jobs, 'm1', 'running');
      expect(await jobs.scope('').cancel('m1', { reason: 'not needed' })).toBe('requested');
      await untilState(jobs, 'm1', 'cancelled');
    });

    expect(await jobs.scope('').get('m1')).toMatchObject({ cancelReason: 'not needed', resultRef: null });
  });

  test('runs a continuation after its parent, and cancels those of a parent that failed', async () => {
    const order: string[] = [];
    const handler = jobs.handler(sendMail, job => {
      order.push(job.id);
      if (job.payload.to === 'nobody') {
        throw new Error('no such mailbox');
      }
    });
    const parent = sendMail.create({ to: 'ada' }, { id: 'parent' });
    const doomed = sendMail.create({ to: 'nobody' }, { id: 'doomed', retry: false });
    const child = sendMail.create({ to: 'ada' }, { id: 'child', after: [doomed] });

    await jobs.submit([
      sendMail.create({ to: 'bob' }, { id: 'next', after: [parent] }),
      parent,
      doomed,
      child,
      sendMail.create({ to: 'ada' }, { id: 'grandchild', after: [child] }),
    ]);
    await whileRunning(jobs, [handler], async () => {
      await untilState(jobs, 'next', 'succeeded');
      await untilState(jobs, 'grandchild', 'cancelled');
    });

    expect(order.filter(id => id !== 'doomed')).toEqual(['parent', 'next']);
    expect(await jobs.scope('').get('child')).toMatchObject({
      state: 'cancelled',
      failureReason: 'cancelled_by_parent',
      attemptCount: 0,
    });
  });

  test('fires a recurring job at its time, each occurrence once', async () => {
    const fired: string[] = [];
    const handler = jobs.handler(sendMail, job => void fired.push(job.scheduledFor.toISOString()));
    await jobs.recurring.upsert('nightly', { cron: '0 3 * * *', job: sendMail.create({ to: 'ada' }) });

    await whileRunning(jobs, [handler], async () => {
      clock.advance(3 * 3_600_000);
      await until(() => fired.length === 1);
      clock.advance(24 * 3_600_000);
      await until(() => fired.length === 2);
    });

    expect(fired).toEqual(['2030-01-01T03:00:00.000Z', '2030-01-02T03:00:00.000Z']);
    expect(await jobs.recurring.get('nightly')).toMatchObject({
      lastFireAt: new Date('2030-01-02T03:00:00Z'),
      nextFireAt: new Date('2030-01-03T03:00:00Z'),
    });
  });

  test('runs no more of a capped queue at once than the cap allows', async () => {
    let running = 0;
    let most = 0;
    const handler = jobs.handler(sendMail, async () => {
      most = Math.max(most, ++running);
      await new Promise(resolve => setImmediate(resolve));
      running--;
    });
    await jobs.queues.limit('default', 2);
    const submitted = await jobs.submit(Array.from({ length: 9 }, () => sendMail.create({ to: 'ada' })));

    await whileRunning(jobs, [handler], async () => {
      for (const { job } of submitted) {
        await untilState(jobs, job.id, 'succeeded');
      }
    });

    expect(most).toBe(2);
  });
});

describe('job.transactional()', () => {
  test('settles the attempt after its work, with what the work returned', async () => {
    const handler = jobs.handler(sendMail, job => job.transactional(async () => 'mail/1').then(() => {}));

    await whileRunning(jobs, [handler], async () => {
      await jobs.submit(sendMail.create({ to: 'ada' }, { id: 'm1' }));
      await untilState(jobs, 'm1', 'succeeded');
    });

    expect(await jobs.scope('').get('m1')).toMatchObject({ resultRef: 'mail/1' });
  });

  test('takes nothing back that its work did before it failed', async () => {
    const written: string[] = [];
    const handler = jobs.handler(sendMail, job =>
      job.transactional(async () => {
        written.push('note');
        throw new Error('mailbox busy');
      }),
    );

    await whileRunning(jobs, [handler], async () => {
      await jobs.submit(sendMail.create({ to: 'ada' }, { id: 'm1', retry: false }));
      await untilState(jobs, 'm1', 'failed');
    });

    expect(written).toEqual(['note']);
  });
});

test('the same request is the same job, another one under its identity a conflict that stores nothing', async () => {
  const submission = sendMail.create({ to: 'ada' }, { id: 'm1' });
  await jobs.submit(submission);

  expect(await jobs.submit(submission)).toMatchObject({ created: false, matched: 'identity' });
  await expect(
    jobs.submit([sendMail.create({ to: 'bob' }, { id: 'm2' }), sendMail.create({ to: 'bob' }, { id: 'm1' })]),
  ).rejects.toThrow(JobIdentityConflictError);
  expect(await jobs.scope('').get('m2')).toBeNull();
});

test('nothing is durable: what one MemoryJobs holds, the next one has never heard of', async () => {
  await jobs.submit(sendMail.create({ to: 'ada' }, { id: 'm1' }));
  await jobs.queues.pause('default');

  const afterRestart = new MemoryJobs({ clock, logger: silent });

  expect(await afterRestart.scope('').get('m1')).toBeNull();
  expect(await afterRestart.queues.list()).toEqual([]);
});
