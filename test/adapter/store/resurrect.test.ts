import { expect, test } from '@jest/globals';
import { jobStates, retryableStates } from '../../../src/core/states.ts';
import { aSubmission, sendMail, useJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aJobIn, aRunningJob, ended, keyOf, start, stored } from './given.ts';

forEachDriver(driver => {
  const on = useJobs(driver);

  test.each(jobStates)('a job that is %s comes back exactly if it has ended in vain', async state => {
    const key = await aJobIn(on, state, { maxAttempts: 1 });
    const before = await stored(on, key);
    const comesBack = (retryableStates as readonly string[]).includes(state);

    const answer = await on.store.resurrect(key, { repair: sendMail.create({ to: 'ada' }), queue: 'repairs' });

    expect(answer).toBe(comesBack ? 'queued' : state === 'succeeded' ? 'succeeded' : 'not_finished');
    if (!comesBack) expect(await stored(on, key)).toEqual(before);
  });

  test('a resurrection writes the budget, the repair and who did it, clears the last run, and nothing else', async () => {
    const attempt = await aRunningJob(on, { uniqueKey: 'invoice-7', queue: 'slow', retry: { lifetime: '1d' } });
    await on.store.progress([{ ...attempt, value: 70, message: 'nearly there' }]);
    await on.store.settle([ended(attempt, 'failed', { error: 'boom' })]);
    const before = await stored(on, attempt);
    expect(before.job).toMatchObject({ retry_until: expect.any(Number), failure_count: 1, attempt_limit: 10 });
    on.clock.advance(5000);

    const how = { repair: sendMail.create({ to: 'ada' }), priority: 7, queue: 'repairs', actor: 'ann' };
    expect(await on.store.resurrect(keyOf(attempt), how)).toBe('queued');

    expect(await stored(on, attempt)).toEqual({
      job: {
        ...before.job,
        state: 'queued',
        next_run_at: on.clock.now(),
        attempt_limit: 11,
        failure_count: 0,
        retry_until: null,
        payload_override: '{"to":"ada"}',
        priority: 7,
        queue: 'repairs',
        initial_queue: 'slow',
        progress: 0,
        progress_message: null,
        failure_reason: null,
        last_error: null,
        finished_at: null,
        changed_by: 'ann',
        revision: Number(before.job!.revision) + 1,
      },
      attempts: before.attempts,
    });
    expect(before.attempts).toMatchObject([{ progress: 70, error: 'boom' }]);
  });

  test('the same request is recognised after a repair and a move, and a batch with it is not refused', async () => {
    const submission = aSubmission({ payload: { to: 'nobody' }, queue: 'slow' });
    await on.store.submit([submission]);
    await on.store.settle([ended(await start(on, submission), 'failed')]);
    await on.store.resurrect(keyOf(submission), { repair: sendMail.create({ to: 'ada' }), queue: 'repairs' });

    const [first, again] = await on.store.submit([aSubmission(), submission]);

    expect(first).toMatchObject({ created: true });
    expect(again).toMatchObject({ created: false, matched: 'identity', job: { queue: 'repairs', isRepaired: true } });
    await expect(on.store.submit([aSubmission({ id: submission.id, queue: 'repairs' })])).rejects.toMatchObject({
      differences: [{ field: 'queue', stored: 'slow', submitted: 'repairs' }, { field: 'payload' }],
    });
  });

  test('nasty texts of a repair arrive byte for byte', async () => {
    const key = await aJobIn(on, 'failed');
    const payload = `{"text":"' ? -- \\\\ $1 :x ${'é'.normalize('NFD')} 🏭","big":9007199254740993,"2":1,"1":2}`;

    await on.store.resurrect(key, { repair: sendMail.createFromJson(payload), actor: `o'neill ?` });

    expect((await start(on, key)).payload).toBe(payload);
    expect(await on.store.get(key)).toMatchObject({ isRepaired: true, changedBy: `o'neill ?` });
  });
});
