import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Attempt } from '../../src/core/attempt.ts';
import { cursorOf } from '../../src/core/cursor.ts';
import { defineJob } from '../../src/core/definition.ts';
import type { JobFilter } from '../../src/core/queries.ts';
import { WaitTimeoutError } from '../../src/core/wait.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { createOrm, dropOrm, forEachDriver } from '../support/orm.ts';
import { useSeveral } from './support/several.ts';

const mail = defineJob<object>()({ name: 'mail', queue: 'mails' });
const report = defineJob<object>()({ name: 'report', queue: 'reports' });

forEachDriver(driver => {
  const { hosts, clock } = useSeveral(driver, 1);
  const jobs = () => hosts[0]!.jobs;
  const minute = 60_000;
  beforeEach(() => jobs().store.register({ id: 'e', name: 'e', host: 'h', leaseUntil: null, metadata: {} }));

  describe('a list', () => {
    const filters: Array<[filter: JobFilter, expected: string]> = [
      [{}, 'f c b a'],
      [{ scope: '' }, 'f b a'],
      [{ scope: 'tenant' }, 'c'],
      [{ scope: 'Tenant' }, ''],
      [{ states: ['queued'] }, 'c b a'],
      [{ states: ['queued', 'failed'] }, 'f c b a'],
      [{ states: [] }, ''],
      [{ queues: ['reports'] }, 'b'],
      [{ names: ['mail'] }, 'f c a'],
      [{ names: ['mail', 'report'], queues: ['other'] }, 'c'],
      [{ reasons: ['handler_error'] }, 'f'],
      [{ recurringId: 'x' }, ''],
      [{ createdFrom: new Date('2030-01-01T00:01Z') }, 'f c b'],
      [{ createdBefore: new Date('2030-01-01T00:01Z') }, 'a'],
      [{ createdFrom: new Date('2030-01-01T00:01Z'), createdBefore: new Date('2030-01-01T00:02Z') }, 'b'],
    ];

    test.each(filters)('of %j has what matches, the newest first', async (filter, expected) => {
      await jobs().submit(mail.create({}, { id: 'a' }));
      clock.advance(minute);
      await jobs().submit(report.create({}, { id: 'b' }));
      clock.advance(minute);
      await jobs().submit(mail.create({}, { id: 'c', scope: 'tenant', queue: 'other' }));
      clock.advance(minute);
      await jobs().submit(mail.create({}, { id: 'f' }));
      await fail((await jobs().store.tryStart({ scope: '', id: 'f' }, 'e'))!);

      expect((await jobs().admin.list(filter)).jobs.map(({ id }) => id).join(' ')).toBe(expected);
      expect((await jobs().admin.counts(filter)).total).toBe(expected.split(' ').filter(Boolean).length);
    });

    test('comes in pages that hold each job once, though all were created in one instant and more come meanwhile', async () => {
      await jobs().submit(
        Array.from({ length: 25 }, (_, n) => mail.create({}, { id: `j${n}`, scope: n % 2 ? 'x' : '' })),
      );
      await hosts[0]!.orm.em.fork().execute('update durable_job set created_at = 1000000');
      const seen: string[] = [];

      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await jobs().admin.list({}, { limit: 4, ...(cursor && { cursor }) });
        seen.push(...page.jobs.map(({ scope, id }) => `${scope}/${id}`));
        cursor = page.next;
        await jobs().submit(mail.create({}));
      }

      expect(seen).toHaveLength(25);
      expect(new Set(seen).size).toBe(25);
    });

    test('ends without a next page, also where the last one is full', async () => {
      await jobs().submit([mail.create({}), mail.create({})]);

      expect(await jobs().admin.list({}, { limit: 2 })).toMatchObject({ next: null });
      expect(await jobs().admin.list({ scope: 'nobody' })).toEqual({ jobs: [], next: null });
    });

    test('of one scope never crosses it, whatever the cursor says', async () => {
      await jobs().submit([mail.create({}, { id: 'a', scope: 'a' }), mail.create({}, { id: 'b', scope: 'b' })]);
      const cursor = cursorOf({ createdAt: Number.MAX_SAFE_INTEGER, scope: 'b', id: 'zzz' });

      expect((await jobs().scope('a').list({}, { cursor })).jobs.map(({ id }) => id)).toEqual(['a']);
      expect(await jobs().scope('a').counts()).toMatchObject({ total: 1 });
    });

    const broken = ['', 'x', '!!', 'bnVsbA', Buffer.from('[1,2,3]').toString('base64url'), Buffer.from('[1.5,"","a"]').toString('base64url'), Buffer.from('[1,"","a",1]').toString('base64url'), Buffer.from('{"createdAt":1}').toString('base64url'), "' or 1=1 --"]; // prettier-ignore
    test.each(broken)('refuses the cursor %p', async cursor => {
      await expect(jobs().admin.list({}, { cursor })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'cursor',
      });
    });

    test('refuses cursors that no database could compare', async () => {
      for (const position of [
        { createdAt: 1, scope: '\ud800', id: 'a' },
        { createdAt: 1, scope: '', id: 'a\u0000' },
      ]) {
        await expect(jobs().admin.list({}, { cursor: cursorOf(position) })).rejects.toMatchObject({ option: 'cursor' });
      }
    });

    test.each([0, -1, 1.5, 201, Number.NaN])('refuses the limit %p', async limit => {
      await expect(jobs().admin.list({}, { limit })).rejects.toMatchObject({ option: 'limit' });
    });

    test.each([{ state: ['queued'] }, { states: 'queued' }, { createdFrom: new Date('x') }, { scope: 'a\u0000' }])('refuses the filter %j', async filter => {
      await expect(jobs().admin.list(filter as never)).rejects.toMatchObject({ name: expect.stringMatching(/Invalid/) });
      await expect(jobs().admin.counts(filter as never)).rejects.toThrow();
      await expect(jobs().admin.cancelAll(filter as never, { limit: 1 })).rejects.toThrow();
    }); // prettier-ignore
  });

  test('counts tell every state, also those of which there is none', async () => {
    await jobs().submit([mail.create({}), mail.create({}), report.create({})]);

    expect(await jobs().admin.counts()).toEqual({
      total: 3,
      byState: { awaiting: 0, queued: 3, running: 0, succeeded: 0, failed: 0, cancelled: 0, interrupted: 0 },
      details: [
        { queue: 'mails', name: 'mail', version: '1', state: 'queued', count: 2 },
        { queue: 'reports', name: 'report', version: '1', state: 'queued', count: 1 },
      ],
    });
  });

  test('lag counts from the due time: what is for later is not late, nor does it hide what is', async () => {
    const soon = new Date('2030-01-01T00:10Z');
    await jobs().submit([mail.create({}, { id: 'soon', notBefore: soon }), report.create({})]);
    await jobs().queues.limit('reports', 2);
    await jobs().queues.pause('reports');
    clock.advance(5 * minute);
    expect(await jobs().admin.lag()).toEqual([
      { queue: 'reports', due: 1, lagMs: 5 * minute, isPaused: true, maxRunning: 2 },
    ]);

    clock.advance(7 * minute);
    expect((await jobs().admin.lag()).map(({ queue, lagMs }) => [queue, lagMs])).toEqual([['reports', 12 * minute], ['mails', 2 * minute]]); // prettier-ignore
  });

  test('executors say what they serve and run; stopped ones only when asked for', async () => {
    const executor = jobs().executor({ handlers: [jobs().handler(mail, () => {})], queues: ['mails'], concurrency: 2, name: 'worker' }); // prettier-ignore
    await executor.start();
    const [running] = (await jobs().admin.executors()).filter(({ name }) => name === 'worker');
    await executor.stop();

    expect(running).toMatchObject({ state: 'active', definitions: [{ name: 'mail', version: '1' }], queues: ['mails'], concurrency: 2, running: 0 }); // prettier-ignore
    expect(running!.leaseUntil).toBeInstanceOf(Date);
    expect((await jobs().admin.executors()).map(({ name }) => name)).toEqual(['e']);
    expect((await jobs().admin.executors({ all: true })).find(({ name }) => name === 'worker')!.state).toBe('stopped');
  });

  test('unknown is what no active executor serves, by definition or by queue', async () => {
    await jobs().store.retire('e');
    const metadata = { definitions: [{ name: 'mail', version: '1' }], queues: ['mails'], concurrency: 1 };
    await jobs().store.register({ id: 'one', name: 'one', host: 'h', leaseUntil: null, metadata });
    await jobs().submit([
      mail.create({}),
      mail.create({}, { queue: 'elsewhere' }),
      report.create({}),
      report.create({}),
    ]);

    expect(await jobs().admin.unknown()).toEqual([
      { queue: 'elsewhere', name: 'mail', version: '1', queued: 1 },
      { queue: 'reports', name: 'report', version: '1', queued: 2 },
    ]);
    await jobs().store.retire('one');
    expect(await jobs().admin.unknown()).toHaveLength(3);
  });

  describe('in bulk', () => {
    test('a preview changes nothing, the call changes at most so many, the newest first', async () => {
      await jobs().submit(['a', 'b', 'c'].map(id => mail.create({}, { id })));
      await jobs().submit(report.create({}, { id: 'other' }));

      expect(await jobs().admin.cancelAll({ names: ['mail'] }, { limit: 2, preview: true })).toEqual({ matched: 2, affected: 2 });
      expect((await jobs().admin.counts()).byState.queued).toBe(4);
      expect(await jobs().admin.cancelAll({ names: ['mail'] }, { limit: 2, reason: 'enough', actor: 'ann' })).toEqual({ matched: 2, affected: 2 });
      expect(await jobs().scope('').get('a')).toMatchObject({ state: 'queued' });
      expect(await jobs().scope('').get('c')).toMatchObject({ state: 'cancelled', cancelReason: 'enough', changedBy: 'ann' });
    }); // prettier-ignore

    test('a cancel reaches what runs, and counts what had ended as not matched', async () => {
      await jobs().submit(['a', 'b'].map(id => mail.create({}, { id })));
      await jobs().store.tryStart({ scope: '', id: 'a' }, 'e');
      await fail((await jobs().store.tryStart({ scope: '', id: 'b' }, 'e'))!);

      expect(await jobs().admin.cancelAll({}, { limit: 10 })).toEqual({ matched: 1, affected: 1 });
      expect(await jobs().scope('').get('a')).toMatchObject({ state: 'running', cancelRequestedAt: expect.any(Date) });
    });

    test.each([0, 1001, Number.NaN, undefined])('the limit %p is refused', async limit => {
      await expect(jobs().admin.cancelAll({}, { limit } as never)).rejects.toMatchObject({ option: 'limit' });
    });
  });

  describe('wait()', () => {
    test('answers the job when it has ended, also later', async () => {
      await jobs().submit(mail.create({}, { id: 'a' }));
      const waiting = jobs().scope('').wait('a', { timeout: '50s' });
      await jobs().scope('').cancel('a');

      expect(await waiting).toMatchObject({ id: 'a', state: 'cancelled' });
    });

    test('ends in an error that says how the job stood, or that there was none', async () => {
      await jobs().submit(mail.create({}, { id: 'a' }));

      await expect(jobs().scope('').wait('a', { timeout: 30 })).rejects.toEqual(expect.objectContaining({ code: 'WAIT_TIMEOUT', state: 'queued' })); // prettier-ignore
      await expect(jobs().scope('').wait('none', { timeout: 30 })).rejects.toBeInstanceOf(WaitTimeoutError);
    });
  });

  test('no read for people asks the database for a payload', async () => {
    const statements: string[] = [];
    const orm = await createOrm(driver, jobEntities, { debug: ['query'], colors: false, logger: text => void statements.push(text) });
    const other = new Jobs({ orm });
    await other.submit(mail.create({ secret: 1 }, { id: 'a' }));
    statements.length = 0;

    await other.admin.list();
    await other.admin.counts();
    await other.admin.lag();
    await other.admin.executors({ all: true });
    await other.admin.unknown();
    await other.scope('').get('a');
    await other.scope('').attempts('a');
    await other.scope('').list();
    await other.deadLetters.list();
    await other.deadLetters.count();
    const { jobs: listed } = await other.admin.list();

    await dropOrm(orm);
    expect(statements.length).toBeGreaterThan(8);
    expect(statements.filter(text => /payload(?!_override is not null)|select (j\.)?\*/.test(text))).toEqual([]);
    expect(Object.keys(listed[0]!)).not.toContain('payload');
  }); // prettier-ignore

  async function fail(attempt: Attempt): Promise<void> {
    await jobs().store.settle([{ ...attempt, progress: null, outcome: 'failed', failureReason: 'handler_error', error: 'x' }]); // prettier-ignore
  }
});
