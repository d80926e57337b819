import { beforeEach, describe, expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import type { DeadLetterFilter } from '../../src/core/dead-letters.ts';
import { AmbientTransactionError } from '../../src/core/errors.ts';
import type { FailureReason } from '../../src/core/failure-reason.ts';
import { forEachDriver } from '../support/orm.ts';
import { useSeveral } from './support/several.ts';

const mail = defineJob<object>()({ name: 'mail', queue: 'mails', maxAttempts: 1 });
const report = defineJob<object>()({ name: 'report', queue: 'reports' });

forEachDriver(driver => {
  const { hosts, clock } = useSeveral(driver, 1);
  const jobs = () => hosts[0]!.jobs;
  const letters = () => jobs().deadLetters;

  /** Failed: a and b (mail), c (report, of a tenant). Beside them one of each other state. */
  beforeEach(async () => {
    await jobs().store.register({ id: 'e', name: 'e', host: 'h', leaseUntil: null, metadata: {} });
    await ended('a', 'failed', 'attempts_exhausted');
    await ended('b', 'failed', 'timeout');
    await ended('c', 'failed', 'timeout', 'tenant');
    await ended('interrupted', 'interrupted', 'lease_lapsed');
    await jobs().submit([mail.create({}, { id: 'cancelled' }), mail.create({}, { id: 'queued' })]);
    await jobs().scope('').cancel('cancelled');
    await jobs().submit(mail.create({}, { id: 'succeeded' }));
    const succeeded = (await jobs().store.tryStart({ scope: '', id: 'succeeded' }, 'e'))!;
    await jobs().store.settle([{ ...succeeded, progress: null, outcome: 'succeeded', resultRef: null }]);
  });

  const filters: Array<[filter: DeadLetterFilter, expected: string, counts: object]> = [
    [{}, 'c b a', { attempts_exhausted: 1, timeout: 2 }],
    [{ reason: ['timeout'] }, 'c b', { timeout: 2 }],
    [{ reason: [] }, '', {}],
    [{ name: 'mail' }, 'b a', { attempts_exhausted: 1, timeout: 1 }],
    [{ queue: 'reports', reason: ['timeout'] }, 'c', { timeout: 1 }],
    [{ scope: 'tenant' }, 'c', { timeout: 1 }],
    [{ finishedFrom: new Date('2030-01-01T00:02Z') }, 'c b', { timeout: 2 }],
    [{ finishedBefore: new Date('2030-01-01T00:02Z') }, 'a', { attempts_exhausted: 1 }],
    [{ includeInterrupted: true }, 'interrupted c b a', { attempts_exhausted: 1, timeout: 2, lease_lapsed: 1 }],
    [{ includeInterrupted: true, reason: ['lease_lapsed'] }, 'interrupted', { lease_lapsed: 1 }],
    [{ reason: ['lease_lapsed', 'cancel_requested'] }, '', {}],
    [{ includeCancelled: true, reason: ['cancel_requested'] }, 'cancelled', { cancel_requested: 1 }],
  ];

  test.each(filters)('%j takes what matches, and nothing that was not asked for', async (filter, expected, counts) => {
    expect((await letters().list(filter)).jobs.map(({ id }) => id).join(' ')).toBe(expected);
    expect(await letters().count(filter)).toEqual(counts);
    const matched = expected.split(' ').filter(Boolean).length;
    for (const call of [letters().resurrect, letters().purge]) {
      expect(await call(filter, { limit: 10, preview: true })).toEqual({ matched, affected: matched });
    }
    expect((await jobs().admin.counts()).byState).toMatchObject({ failed: 3, interrupted: 1, cancelled: 1, queued: 1 });
  });

  test('a list comes in pages', async () => {
    const first = await letters().list({}, { limit: 2 });
    const second = await letters().list({}, { limit: 2, cursor: first.next! });

    expect([...first.jobs, ...second.jobs].map(({ id }) => id)).toEqual(['c', 'b', 'a']);
    expect(second.next).toBeNull();
  });

  test('a retry leaves alone what has spent its starts, a resurrection does not; both say who did it', async () => {
    expect(await letters().retry({}, { limit: 10, preview: true })).toEqual({ matched: 3, affected: 1 });
    expect(await letters().retry({}, { limit: 10, actor: 'ann' })).toEqual({ matched: 3, affected: 1 });
    expect(await jobs().scope('tenant').get('c')).toMatchObject({
      state: 'queued',
      attemptLimit: 10,
      changedBy: 'ann',
    });

    expect(await letters().resurrect({}, { limit: 10, actor: 'bob' })).toEqual({ matched: 2, affected: 2 });
    expect(await jobs().scope('').get('a')).toMatchObject({ state: 'queued', attemptLimit: 2, changedBy: 'bob' });
    expect(await jobs().scope('').get('interrupted')).toMatchObject({ state: 'interrupted' });
  });

  test('no more than the limit are taken, the newest first', async () => {
    expect(await letters().resurrect({}, { limit: 2 })).toEqual({ matched: 2, affected: 2 });

    expect((await letters().list()).jobs.map(({ id }) => id)).toEqual(['a']);
  });

  test('a purge deletes what it was asked to, with the attempts, and says who did it in the log', async () => {
    expect(await letters().purge({ reason: ['timeout'] }, { limit: 10, actor: 'ann' })).toEqual({ matched: 2, affected: 2 });

    expect(await jobs().scope('').get('b')).toBeNull();
    expect(await jobs().scope('').attempts('b')).toEqual([]);
    expect((await jobs().admin.counts()).byState).toMatchObject({ failed: 1, interrupted: 1, cancelled: 1, succeeded: 1 });
    expect(hosts[0]!.log.of('dead_letters_purged')).toMatchObject([{ actor: 'ann', purged: 2 }]);
    expect((await jobs().submit(mail.create({}, { id: 'b' }))).created).toBe(true);
  }); // prettier-ignore

  test('a purge leaves alone what an awaiting job waits for', async () => {
    await jobs().submit(mail.create({}, { id: 'child', after: [{ scope: '', id: 'interrupted' }] }));

    const filter = { includeInterrupted: true, reason: ['lease_lapsed'] } as const;
    expect(await letters().purge(filter, { limit: 10 })).toEqual({ matched: 1, affected: 0 });
    expect(await jobs().scope('').get('child')).toMatchObject({ state: 'awaiting' });
  });

  test('those of one scope are never those of another', async () => {
    const { deadLetters } = jobs().scope('tenant');

    expect((await deadLetters.list()).jobs.map(({ id }) => id)).toEqual(['c']);
    expect(await deadLetters.count({ includeInterrupted: true })).toEqual({ timeout: 1 });
    expect(await deadLetters.purge({ includeInterrupted: true }, { limit: 10 })).toEqual({ matched: 1, affected: 1 });
    expect((await letters().list()).jobs.map(({ id }) => id)).toEqual(['b', 'a']);
    await expect(deadLetters.count({ scope: '' } as never)).rejects.toMatchObject({ option: 'scope' });
  });

  describe('refused before any SQL', () => {
    test.each([
      ['reasons', { reasons: ['timeout'] }],
      ['states', { states: ['failed'] }],
      ['reason', { reason: 'timeout' }],
      ['reason', { reason: ['time out'] }],
      ['name', { name: ['mail'] }],
      ['queue', { queue: '' }],
      ['finishedFrom', { finishedFrom: new Date('x') }],
      ['includeInterrupted', { includeInterrupted: 'yes' }],
    ])('a filter with a wrong %s: %j', async (option, filter) => {
      const { list, count, retry, resurrect, purge } = letters();
      const refused = expect.objectContaining({ code: 'INVALID_OPTION', option });

      await expect(list(filter as never)).rejects.toEqual(refused);
      await expect(count(filter as never)).rejects.toEqual(refused);
      for (const call of [retry, resurrect, purge]) {
        await expect(call(filter as never, { limit: 10 })).rejects.toEqual(refused);
      }
    });

    test.each([0, 1001, Number.NaN, undefined])('the limit %p', async limit => {
      for (const call of [letters().retry, letters().resurrect, letters().purge]) {
        await expect(call({}, { limit } as never)).rejects.toMatchObject({ option: 'limit' });
      }
    });

    test('every call inside a transaction', async () => {
      const { list, count, retry, resurrect, purge } = letters();
      const calls = [list, count, retry, resurrect, purge, jobs().scope('').deadLetters.list];

      await hosts[0]!.orm.em.fork().transactional(async () => {
        for (const call of calls) await expect(call({}, { limit: 1 })).rejects.toBeInstanceOf(AmbientTransactionError);
      });
    });
  });

  test('a repair of another definition, or another version, is refused by name', async () => {
    const { resurrect } = jobs().scope('');
    const newer = defineJob<object>()({ name: 'mail', version: '2' });

    await expect(resurrect('a', { repaired: report.create({}) })).rejects.toMatchObject({ code: 'REPAIR_MISMATCH' });
    await expect(resurrect('a', { repaired: newer.create({}) })).rejects.toMatchObject({
      code: 'REPAIR_MISMATCH',
      stored: { name: 'mail', version: '1' },
      repaired: { name: 'mail', version: '2' },
    });
    expect(await jobs().scope('').get('a')).toMatchObject({ state: 'failed' });
  });

  async function ended(id: string, outcome: 'failed' | 'interrupted', failureReason: FailureReason, scope = '') {
    clock.advance(60_000);
    await jobs().submit((id === 'c' ? report : mail).create({}, { id, scope }));
    const attempt = (await jobs().store.tryStart({ scope, id }, 'e'))!;
    await jobs().store.settle([{ ...attempt, progress: null, outcome, failureReason, error: 'x' }]);
  }
});
