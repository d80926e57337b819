import { assertHas, only, settled } from '../arrange.ts';
import { aClaim, aRecurringJob, failed, keyOf, succeeded } from '../builders.ts';
import { fact, group } from '../fact.ts';

export const lastStates = group('The last job of a recurring job', [
  fact('a recurring job that has made no job has no last state', async on => {
    const job = aRecurringJob(on.clock.now());
    await on.recurring.upsertRecurring(job);

    assertHas(await on.recurring.getRecurring(keyOf(job)), { lastState: null });
  }),

  fact(
    'the last state of a recurring job is that of the job which it made last, whatever the earlier ones do',
    async on => {
      const job = aRecurringJob(on.clock.now());
      await on.recurring.upsertRecurring(job);
      await on.recurring.runRecurringNow(keyOf(job));
      const first = only((await on.store.claim(aClaim())).attempts);
      await settled(on, succeeded(first));
      assertHas(await on.recurring.getRecurring(keyOf(job)), { lastState: 'succeeded' });

      on.clock.advance(1000);
      await on.recurring.runRecurringNow(keyOf(job));
      const second = only((await on.store.claim(aClaim())).attempts);

      assertHas(await on.recurring.getRecurring(keyOf(job)), { lastState: 'running' });
      assertHas(only(await on.recurring.listRecurring('')), { lastState: 'running' });
      await settled(on, failed(second));
      assertHas(await on.recurring.getRecurring(keyOf(job)), { lastState: 'failed' });
    },
  ),

  fact('a recurring job of the same id in another scope has a last state of its own', async on => {
    const [mine, theirs] = [aRecurringJob(null, { id: 'same' }), aRecurringJob(null, { id: 'same', scope: 'other' })];
    await on.recurring.upsertRecurring(mine);
    await on.recurring.upsertRecurring(theirs);
    await on.recurring.runRecurringNow(keyOf(theirs));

    assertHas(await on.recurring.getRecurring(keyOf(mine)), { lastState: null });
    assertHas(await on.recurring.getRecurring(keyOf(theirs)), { lastState: 'queued' });
  }),
]);
