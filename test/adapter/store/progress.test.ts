import { expect, test } from '@jest/globals';
import { useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aRunningJob, keyOf, someRunningJobs, stored } from './given.ts';

forEachDriver(driver => {
  const on = useJobs(driver);

  test('progress is written on job and attempt alike, with one revision', async () => {
    const attempt = await aRunningJob(on);
    const before = await stored(on, attempt);

    const answers = await on.store.progress([{ ...attempt, value: 40, message: 'two of five' }]);

    expect(answers).toEqual([{ status: 'active', written: true }]);
    const written = { progress: 40, progress_message: 'two of five' };
    expect(await stored(on, attempt)).toEqual({
      job: { ...before.job, ...written, revision: 3 },
      attempts: [{ ...before.attempts[0], ...written }],
    });
  });

  test.each([
    { title: 'greater', value: 41, message: null, progress: 41, kept: 'two of five' },
    { title: 'equal', value: 40, message: null, progress: 40, kept: 'two of five' },
    { title: 'equal with another message', value: 40, message: 'still two', progress: 40, kept: 'still two' },
    { title: 'full', value: 100, message: '', progress: 100, kept: '' },
  ])(
    'a value that is $title is written; without a message the last one stays',
    async ({ value, message, progress, kept }) => {
      const attempt = await aRunningJob(on);
      await on.store.progress([{ ...attempt, value: 40, message: 'two of five' }]);

      const answers = await on.store.progress([{ ...attempt, value, message }]);

      expect(answers).toEqual([{ status: 'active', written: true }]);
      const { job, attempts } = await stored(on, attempt);
      expect(job).toMatchObject({ progress, progress_message: kept, revision: 4 });
      expect(attempts).toMatchObject([{ progress, progress_message: kept }]);
    },
  );

  test('a lower value is not written, nor is its message, and the attempt goes on', async () => {
    const attempt = await aRunningJob(on);
    await on.store.progress([{ ...attempt, value: 40, message: 'two of five' }]);
    const before = await stored(on, attempt);

    const answers = await on.store.progress([{ ...attempt, value: 39, message: 'less' }]);

    expect(answers).toEqual([{ status: 'active', written: false }]);
    expect(await stored(on, attempt)).toEqual(before);
  });

  test('after a cancel was requested nothing is written, and the attempt is told', async () => {
    const attempt = await aRunningJob(on);
    await on.store.cancel(keyOf(attempt), {});
    const before = await stored(on, attempt);

    const answers = await on.store.progress([{ ...attempt, value: 50, message: 'half' }]);

    expect(answers).toEqual([{ status: 'cancel_requested', written: false }]);
    expect(await stored(on, attempt)).toEqual(before);
  });

  test('each report of a group is judged by itself', async () => {
    const [fine, cancelled, stale, lower] = await someRunningJobs(on, 4);
    await on.store.cancel(keyOf(cancelled!), {});
    await on.store.recover([stale!], { requeue: 'always', reason: 'shutdown' });
    await on.store.progress([{ ...lower!, value: 60, message: null }]);

    const answers = await on.store.progress(
      [lower, stale, cancelled, fine].map(attempt => ({ ...attempt!, value: 50, message: null })),
    );

    expect(answers).toEqual([
      { status: 'active', written: false },
      { status: 'ended', written: false },
      { status: 'cancel_requested', written: false },
      { status: 'active', written: true },
    ]);
    expect((await stored(on, fine!)).job).toMatchObject({ progress: 50 });
  });

  test('two reports of one attempt in a group count in their order', async () => {
    const [up, down] = await someRunningJobs(on, 2);

    const answers = await on.store.progress([
      { ...up!, value: 10, message: 'ten' },
      { ...down!, value: 90, message: 'ninety' },
      { ...up!, value: 20, message: 'twenty' },
      { ...down!, value: 80, message: 'eighty' },
    ]);

    expect(answers.map(({ written }) => written)).toEqual([true, true, true, false]);
    expect(await stored(on, up!)).toMatchObject({
      job: { progress: 20, progress_message: 'twenty' },
      attempts: [{ progress: 20, progress_message: 'twenty' }],
    });
    expect(await stored(on, down!)).toMatchObject({
      job: { progress: 90, progress_message: 'ninety' },
      attempts: [{ progress: 90, progress_message: 'ninety' }],
    });
  });

  test('where the attempt refuses the value, the job does not have it either', async () => {
    const attempt = await aRunningJob(on);
    const before = await stored(on, attempt);

    await expect(on.store.progress([{ ...attempt, value: 101, message: null }])).rejects.toThrow(/check/i);

    expect(await stored(on, attempt)).toEqual(before);
  });

  test('a group without reports is answered without asking the database', async () => {
    expect(await on.store.progress([])).toEqual([]);
  });
});
