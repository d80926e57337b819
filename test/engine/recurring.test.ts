import { afterEach, describe, expect, test } from '@jest/globals';
import { EventStream } from '../../src/core/event-stream.ts';
import { defineJob } from '../../src/core/definition.ts';
import type { JobKey } from '../../src/core/job-key.ts';
import { recurringControlOf } from '../../src/core/recurring-control.ts';
import type { RecurringStore, Resumption } from '../../src/core/recurring.ts';
import { Schedule } from '../../src/core/schedule.ts';
import { dateOf, microsOf } from '../../src/core/time.ts';
import { fireDue } from '../../src/executor/fire-due.ts';
import { Scheduler } from '../../src/executor/scheduler.ts';
import { spawnNode } from '../support/child.ts';
import { dbNameOf, forEachDriver } from '../support/orm.ts';
import { useSeveral, type Host } from './support/several.ts';
import { eventually } from './support/wait.ts';

const report = defineJob<{ region: string }>()({ name: 'report' });
const job = report.create({ region: 'EU' });
const minutely = { cron: '* * * * *', job } as const;
const minuteMs = 60_000;

interface Made {
  readonly id: string;
  readonly scope: string;
  readonly recurring_id: string;
  readonly initial_not_before: string | null;
  readonly state: string;
  readonly [column: string]: unknown;
}

forEachDriver(driver => {
  const { hosts, clock } = useSeveral(driver, 4);
  const running: Array<() => Promise<void>> = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map(stop => stop()));
  });

  const first = () => hosts[0]!;
  const recurring = () => first().jobs.recurring;
  const rounds = driver === 'postgresql' ? 80 : 15;

  describe('firing', () => {
    test('of an occurrence is won by one of four that see it due at once, and makes one job', async () => {
      await recurring().upsert('r', minutely);
      for (let round = 1; round <= rounds; round++) {
        clock.advance(minuteMs);
        const expected = clock.now();
        const next = new Schedule('* * * * *', 'UTC').next(expected);

        const firing = { key: { scope: '', id: 'r' }, expected, next, occurrences: [expected] };
        const answers = await Promise.all(hosts.map(host => host.recurring.fire(firing)));

        expect(answers.map(({ won }) => won).filter(Boolean)).toHaveLength(1);
        expect(answers.map(({ created }) => created).sort()).toEqual([0, 0, 0, 1]);
        expect(await made('r')).toHaveLength(round);
      }
    });

    test('by four schedulers makes one job for each occurrence, and none of them complains', async () => {
      await recurring().upsert('a', minutely);
      await recurring().upsert('b', { cron: '*/2 * * * *', job });
      hosts.forEach(startScheduler);

      for (let minute = 1; minute <= 6; minute++) {
        clock.advance(minuteMs);
        await eventually(async () => (await made('a')).length >= minute);
        await eventually(async () => (await made('b')).length >= Math.floor(minute / 2));
      }

      const fired = () => hosts.flatMap(({ log }) => log.of('recurring_fired'));
      // Told after the commit that others see.
      await eventually(() => fired().length >= 9);
      expect((await made('a')).map(occurrence)).toEqual(minutes(1, 2, 3, 4, 5, 6));
      expect((await made('b')).map(occurrence)).toEqual(minutes(2, 4, 6));
      expect(hosts.flatMap(({ log }) => log.troubles)).toEqual([]);
      expect(fired()).toHaveLength(9);
    });

    test('makes a job that is due at its occurrence and says whose it is, also when it is late', async () => {
      await recurring().upsert('r', minutely);
      startScheduler(first());

      clock.advance(minuteMs + 30_500);
      const [row] = await eventually(async () => nonEmpty(await made('r')));

      expect(await first().jobs.scope('').get(row!.id)).toMatchObject({
        recurringId: 'r',
        notBefore: dateOf(minute(1)),
        state: 'queued',
      });
      expect(await recurring().get('r')).toMatchObject({
        lastFireAt: dateOf(minute(1)),
        nextFireAt: dateOf(minute(2)),
        lastState: 'queued',
      });
    });

    test('is followed by that of the next occurrence, however long nobody else would look', async () => {
      await recurring().upsert('r', { ...minutely, cron: '* * * * * *' });
      startScheduler(first(), 3_600_000);

      for (const count of [1, 2]) {
        clock.advance(1000);
        await eventually(async () => (await made('r')).length === count);
      }

      expect((await made('r')).map(occurrence)).toEqual([1, 2].map(second => minute(0) + second * 1_000_000));
    });

    test('that can’t insert its job doesn’t move the schedule either, and goes on when it can', async () => {
      await recurring().upsert('r', minutely);
      const allow = await refuseInserts(first(), 'r');
      startScheduler(first());

      clock.advance(minuteMs);
      await first().log.until('fire_failed');

      expect(await made('r')).toEqual([]);
      expect(await recurring().get('r')).toMatchObject({ nextFireAt: dateOf(minute(1)), lastFireAt: null });
      await allow();
      startScheduler(hosts[1]!);
      await eventually(async () => (await made('r')).length > 0);
      expect((await made('r')).map(occurrence)).toEqual(minutes(1));
    });

    test('of one that fails stops no other', async () => {
      await recurring().upsert('broken', { cron: '* * * * *', job });
      await recurring().upsert('sound', { cron: '*/2 * * * *', job });
      const allow = await refuseInserts(first(), 'broken');
      clock.advance(5 * minuteMs);

      startScheduler(first());
      await eventually(async () => (await made('sound')).length > 0);
      await first().log.until('fire_failed');

      expect(await made('broken')).toEqual([]);
      expect(first().log.of('fire_failed')).toHaveLength(1);
      await allow();
    });

    test('of one that fails doesn’t hide when the others come next', async () => {
      await recurring().upsert('broken', { cron: '* * * * *', job });
      await recurring().upsert('sound', { cron: '*/2 * * * *', job });
      const allow = await refuseInserts(first(), 'broken');
      clock.advance(2 * minuteMs);

      const fired = await fireDue({ store: first().recurring, clock, events: new EventStream(first().log) });

      expect(fired).toEqual({ nextFireAt: minute(4), errors: [expect.any(Error)] });
      expect((await made('sound')).map(occurrence)).toEqual(minutes(2));
      await allow();
    });

    test.each([
      ['one', [4]],
      ['none', []],
      [{ upTo: 3 }, [2, 3, 4]],
    ] as const)('makes up for what was missed as it is told: %j', async (missed, expected) => {
      await recurring().upsert('r', { ...minutely, cron: '* * * * *', missed });
      await recurring().pause('r');
      await touch(`update durable_recurring_job set paused = ${driver === 'sqlite' ? 0 : 'false'}`);
      // The latest occurrence is late by more than a minute only where the next one is further away.
      await touch(`update durable_recurring_job set cron = '1-4 * * * *'`);
      clock.advance(30 * minuteMs);

      startScheduler(first());
      await first().log.until('recurring_fired');

      expect((await made('r')).map(occurrence)).toEqual(minutes(...expected));
      expect((await recurring().get('r'))!.nextFireAt).toEqual(dateOf(minute(61)));
    });

    test('at the due time needs no look in between', async () => {
      await recurring().upsert('r', minutely);
      clock.advance(minuteMs - 300);
      startScheduler(first(), 3_600_000);
      await eventually(async () => (await made('r')).length === 0);
      const timer = setTimeout(() => clock.advance(300), 200);

      await eventually(async () => (await made('r')).length > 0);

      clearTimeout(timer);
      expect((await made('r')).map(occurrence)).toEqual(minutes(1));
    });

    test('goes by a stored schedule that can’t be read: it is parked, stops no other, and an upsert takes it up', async () => {
      await recurring().upsert('broken', minutely);
      await recurring().upsert('sound', minutely);
      await touch(`update durable_recurring_job set time_zone = 'Mars/Base' where id = 'broken'`);
      startScheduler(first());

      clock.advance(minuteMs);
      await eventually(async () => (await recurring().get('broken'))!.nextFireAt === null);
      await eventually(async () => (await made('sound')).length > 0);

      expect(first().log.of('schedule_broken')).toMatchObject([{ id: 'broken' }]);
      expect(await recurring().get('broken')).toMatchObject({ nextFireAt: null, occurrences: [] });
      expect((await recurring().list()).map(({ id }) => id)).toEqual(['sound', 'broken']);
      await recurring().upsert('broken', minutely);
      expect(await recurring().get('broken')).toMatchObject({ timeZone: 'UTC', nextFireAt: dateOf(minute(2)) });
    });

    test('puts every option of its job on each: in time, made up for, and by hand', async () => {
      const options = {
        queue: 'reports',
        priority: 7,
        maxAttempts: 3,
        timeout: '6h',
        onInterrupt: 'requeue',
        metadata: { team: 'billing' },
        retry: { base: '5s', factor: 3 },
      } as const;
      await recurring().upsert('r', {
        cron: '* * * * *',
        missed: { upTo: 2 },
        job: report.create({ region: 'US' }, options),
      });
      clock.advance(2 * minuteMs);
      startScheduler(first());
      await eventually(async () => (await made('r')).length === 2);
      await recurring().runNow('r');

      const rows = await made('r');
      const [plain] = (await first()
        .orm.em.fork()
        .execute(
          `select * from durable_job where id = '${(await first().jobs.submit(report.create({ region: 'US' }, options))).job.id}'`,
        )) as Made[];
      const carried = ['name', 'version', 'payload', 'queue', 'priority', 'max_attempts', 'attempt_limit', 'timeout_ms', 'on_interrupt', 'metadata', 'retry_policy']; // prettier-ignore
      const picked = (row: Made) => Object.fromEntries(carried.map(column => [column, row[column]]));

      expect(rows).toHaveLength(3);
      expect(rows.map(picked)).toEqual(rows.map(() => picked(plain!)));
      expect(plain).toMatchObject({ queue: 'reports', priority: 7, max_attempts: 3, timeout_ms: 21_600_000 });
    });
  });

  describe('an upsert', () => {
    test('with the same cron never takes an occurrence back that is fired beside it', async () => {
      const schedule = new Schedule('* * * * *', 'UTC');
      await recurring().upsert('r', minutely);

      for (let round = 1; round <= rounds; round++) {
        const expected = schedule.next(clock.now())!;
        const firing = {
          key: { scope: '', id: 'r' },
          expected,
          next: schedule.next(expected),
          occurrences: [expected],
        };
        await Promise.all([
          hosts[1]!.recurring.fire(firing),
          hosts[2]!.jobs.recurring.upsert('r', minutely),
          hosts[3]!.jobs.recurring.replaceAll({ r: minutely }),
        ]);

        expect((await recurring().get('r'))!.nextFireAt).toEqual(dateOf(schedule.next(expected)!));
        clock.advance(minuteMs);
      }
      expect(await made('r')).toHaveLength(rounds);
    });

    test('with the same cron and zone keeps what is due, another one takes its own', async () => {
      await recurring().upsert('r', minutely);
      clock.advance(10 * minuteMs);

      await recurring().upsert('r', { ...minutely, job: report.create({ region: 'US' }), overlap: 'skip' });
      expect(await recurring().get('r')).toMatchObject({ nextFireAt: dateOf(minute(1)), overlap: 'skip' });

      await recurring().upsert('r', { ...minutely, cron: '0 * * * *' });
      expect((await recurring().get('r'))!.nextFireAt).toEqual(dateOf(minute(60)));

      await recurring().upsert('r', { ...minutely, cron: '0 3 * * *', timeZone: 'Europe/Berlin' });
      expect((await recurring().get('r'))!.nextFireAt).toEqual(new Date('2030-01-01T02:00Z'));
    });

    test('leaves a paused one paused', async () => {
      await recurring().upsert('r', minutely);
      await recurring().pause('r');

      await recurring().upsert('r', { ...minutely, cron: '0 * * * *' });

      expect(await recurring().get('r')).toMatchObject({ isPaused: true, cron: '0 * * * *' });
    });

    test.each([
      ['cron', { ...minutely, cron: '0 25 * * *' }],
      ['timeZone', { ...minutely, timeZone: 'Mars/Base' }],
      ['missed', { ...minutely, missed: 'all' }],
      ['overlap', { ...minutely, overlap: 'replace' }],
      ['timezone', { ...minutely, timezone: 'Europe/Berlin' }],
      ['job', { ...minutely, job: report.create({ region: 'EU' }, { uniqueKey: 'k' }) }],
      ['job', { ...minutely, job: report.create({ region: 'EU' }, { delay: '1s' }) }],
      ['job', { ...minutely, job: report.create({ region: 'EU' }, { after: [{ scope: '', id: 'x' }] }) }],
      ['job.scope', { ...minutely, job: report.create({ region: 'EU' }, { scope: 'tenant' }) }],
    ])('is refused for its %s, and none of a replaceAll is stored', async (option, options) => {
      const refusal = expect.objectContaining({ code: 'INVALID_OPTION', option });

      await expect(recurring().upsert('r', options as never)).rejects.toEqual(refusal);
      await expect(recurring().replaceAll({ good: minutely, r: options as never })).rejects.toEqual(refusal);
      expect(await recurring().list()).toEqual([]);
    });

    test.each(['', 'with space', 'x'.repeat(129)])('is refused for the id %p', async id => {
      await expect(recurring().upsert(id, minutely)).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'id' });
    });
  });

  describe('a recurring job', () => {
    test('that is paused doesn’t fire; resumed, it goes on with the next and makes up for nothing', async () => {
      await recurring().upsert('r', minutely);
      await recurring().upsert('other', minutely);
      expect(await recurring().pause('r')).toBe(true);
      startScheduler(first());
      clock.advance(5 * minuteMs);
      await eventually(async () => (await made('other')).length > 0);

      expect(await recurring().resume('r')).toBe(true);
      clock.advance(minuteMs);
      await eventually(async () => (await made('r')).length > 0);

      expect((await made('r')).map(occurrence)).toEqual(minutes(6));
    });

    test('that isn’t paused keeps what is due when it is resumed', async () => {
      await recurring().upsert('r', minutely);
      clock.advance(10 * minuteMs);

      expect(await recurring().resume('r')).toBe(true);

      expect((await recurring().get('r'))!.nextFireAt).toEqual(dateOf(minute(1)));
    });

    test('whose cron is changed while it is resumed goes on with an occurrence of the new one', async () => {
      await recurring().upsert('r', minutely);
      await recurring().pause('r');
      let reads = 0;
      const store = first().recurring;
      const changing = {
        getRecurring: async (key: JobKey) => {
          const job = await store.getRecurring(key);
          if (reads++ === 0) await recurring().upsert('r', { ...minutely, cron: '30 12 * * *' });
          return job;
        },
        resumeRecurring: (key: JobKey, resumption: Resumption) => store.resumeRecurring(key, resumption),
      } as RecurringStore;

      expect(await recurringControlOf('', changing, clock, () => {}).resume('r')).toBe(true);

      const { cron, isPaused, nextFireAt } = (await recurring().get('r'))!;
      expect([cron, isPaused, nextFireAt!.toISOString().slice(11)]).toEqual(['30 12 * * *', false, '12:30:00.000Z']);
    });

    test('that is paused while it is fired isn’t fired', async () => {
      await recurring().upsert('r', minutely);
      clock.advance(minuteMs);
      await recurring().pause('r');

      const firing = { key: { scope: '', id: 'r' }, expected: minute(1), next: minute(2), occurrences: [minute(1)] };
      expect(await first().recurring.fire(firing)).toEqual({ won: false, created: 0 });
      expect(await made('r')).toEqual([]);
    });

    test('that is removed leaves its jobs, and they say whose they were', async () => {
      await recurring().upsert('r', minutely);
      clock.advance(minuteMs);
      startScheduler(first());
      const [row] = await eventually(async () => nonEmpty(await made('r')));

      expect(await recurring().remove('r')).toBe(true);

      expect(await recurring().get('r')).toBeNull();
      expect(await first().jobs.scope('').get(row!.id)).toMatchObject({ recurringId: 'r', state: 'queued' });
      expect((await first().jobs.admin.list({ recurringId: 'r' })).jobs).toHaveLength(1);
    });

    test('that nobody knows is answered so', async () => {
      expect(await recurring().pause('x')).toBe(false);
      expect(await recurring().resume('x')).toBe(false);
      expect(await recurring().remove('x')).toBe(false);
      expect(await recurring().runNow('x')).toBeNull();
      expect(await recurring().get('x')).toBeNull();
    });

    test('makes one job by hand, due now, and keeps its schedule', async () => {
      await recurring().upsert('r', minutely);
      clock.advance(1500);

      const run = await recurring().runNow('r');

      expect(run).toMatchObject({ recurringId: 'r', state: 'queued', notBefore: null });
      expect(await recurring().get('r')).toMatchObject({ nextFireAt: dateOf(minute(1)), lastFireAt: null });
    });

    test('that skips overlaps makes none while one is queued or runs, and the next after its end', async () => {
      const { store } = first().jobs;
      await recurring().upsert('skips', { ...minutely, overlap: 'skip' });
      await recurring().upsert('queues', { ...minutely, overlap: 'queue' });
      startScheduler(first());
      clock.advance(minuteMs);
      await eventually(async () => (await made('skips')).length === 1 && (await made('queues')).length === 1);

      clock.advance(minuteMs);
      await eventually(async () => (await made('queues')).length === 2);
      await eventually(async () => (await recurring().get('skips'))!.lastFireAt!.getTime() === minute(2) / 1000);
      expect(await made('skips')).toHaveLength(1);

      await store.register({ id: 'e', name: 'e', host: 'h', leaseUntil: null, metadata: {} });
      const attempt = (await store.tryStart({ scope: '', id: (await made('skips'))[0]!.id }, 'e'))!;
      clock.advance(minuteMs);
      await eventually(async () => (await recurring().get('skips'))!.lastFireAt!.getTime() === minute(3) / 1000);
      expect(await made('skips')).toHaveLength(1);
      expect(await recurring().runNow('skips')).toMatchObject({ id: attempt.id });

      await store.settle([{ ...attempt, progress: null, outcome: 'succeeded', resultRef: null }]);
      clock.advance(minuteMs);
      await eventually(async () => (await made('skips')).length === 2);
      expect((await made('skips')).map(occurrence)).toEqual(minutes(1, 4));
    });

    test('of one tenant is none of another’s, and its jobs are the tenant’s', async () => {
      const of = (scope: string) => first().jobs.scope(scope).recurring;
      for (const scope of ['a', 'b']) {
        await of(scope).upsert('r', { ...minutely, job: report.create({ region: scope }, { scope }) });
      }
      await of('b').upsert('only-b', { ...minutely, job: report.create({ region: 'b' }, { scope: 'b' }) });
      startScheduler(first());

      clock.advance(minuteMs);
      await eventually(async () => (await made('r')).length === 2 && (await made('only-b')).length === 1);

      expect((await made('r')).map(({ scope, payload }) => [scope, payload]).sort()).toEqual([['a', '{"region":"a"}'], ['b', '{"region":"b"}']]); // prettier-ignore
      expect(await of('a').replaceAll({})).toEqual(['r']);
      expect((await of('b').list()).map(({ id }) => id)).toEqual(['only-b', 'r']);
      expect(await of('a').pause('only-b')).toBe(false);
      expect(await recurring().list()).toEqual([]);
    });

    test('that skips overlaps in one scope holds none up in another', async () => {
      for (const scope of ['a', 'b']) {
        const control = first().jobs.scope(scope).recurring;
        await control.upsert('r', { ...minutely, overlap: 'skip', job: report.create({ region: scope }, { scope }) });
        expect(await control.runNow('r')).toMatchObject({ scope });
      }

      expect(await made('r')).toHaveLength(2);
    });
  });

  test('replaceAll leaves exactly what it names, keeps what was fired, and says what it removed', async () => {
    await recurring().replaceAll({ a: minutely, b: minutely });
    clock.advance(5 * minuteMs);

    expect(await recurring().replaceAll({ b: minutely, c: minutely })).toEqual(['a']);
    expect((await recurring().list()).map(({ id, nextFireAt }) => [id, nextFireAt])).toEqual([['b', dateOf(minute(1))], ['c', dateOf(minute(6))]]); // prettier-ignore
    expect((await recurring().replaceAll({})).sort()).toEqual(['b', 'c']);
    expect(await recurring().list()).toEqual([]);
  });

  test('a list tells the next occurrences in the zone of each', async () => {
    await recurring().upsert('berlin', { cron: '30 2 * * *', timeZone: 'Europe/Berlin', job });
    clock.set(microsOf(new Date('2030-03-30T12:00Z')));
    await recurring().upsert('later', { cron: '0 0 1 1 *', job });

    const [berlin, later] = await recurring().list({ occurrences: 3 });

    expect(berlin).toMatchObject({ id: 'berlin', timeZone: 'Europe/Berlin' });
    expect(berlin!.occurrences.map(at => at.toISOString())).toEqual(['2030-03-31T01:00:00.000Z', '2030-04-01T00:30:00.000Z', '2030-04-02T00:30:00.000Z']); // prettier-ignore
    expect(later!.occurrences).toHaveLength(3);
    await expect(recurring().list({ occurrences: 101 })).rejects.toMatchObject({ option: 'occurrences' });
  });

  function startScheduler(host: Host, intervalMs = 20): void {
    const stopping = new AbortController();
    const scheduler = new Scheduler({ store: host.recurring, intervalMs, clock, events: new EventStream(host.log) });
    const ended = scheduler.run(stopping.signal);
    running.push(() => (stopping.abort(), ended));
  }

  async function made(id: string): Promise<Made[]> {
    const sql = `select * from durable_job where recurring_id = '${id}' order by created_at, id`;
    return (await first().orm.em.fork().execute(sql)) as Made[];
  }

  async function touch(sql: string): Promise<void> {
    await first().orm.em.fork().execute(sql);
  }

  function minute(number: number): number {
    return microsOf(new Date('2030-01-01T00:00Z')) + number * minuteMs * 1000;
  }

  function minutes(...numbers: number[]): number[] {
    return numbers.map(minute);
  }
});

describe('processes', () => {
  forEachDriver(driver => {
    const { hosts } = useSeveral(driver, 1, { clock: { now: () => Date.now() * 1000 } });

    test('fire each second once, three of them together', async () => {
      const [{ jobs, orm }] = hosts as [Host];
      const children = ['first', 'second', 'third'].map(() => {
        return spawnNode('test/engine/programs/recurring-executor.ts', [driver, dbNameOf(orm)]);
      });
      await Promise.all(children.map(child => child.line('started')));

      await jobs.recurring.upsert('r', { cron: '* * * * * *', missed: { upTo: 100 }, job });
      await eventually(async () => (await jobs.admin.counts({ recurringId: 'r' })).total >= 5);
      for (const child of children) child.process.kill('SIGTERM');
      const exits = await Promise.all(children.map(child => child.exited));

      expect(exits.map(({ code }) => code)).toEqual([0, 0, 0]);
      const rows = (await orm.em
        .fork()
        .execute(
          `select initial_not_before from durable_job where recurring_id = 'r' order by initial_not_before`,
        )) as Made[];
      const seconds = rows.map(row => occurrence(row) / 1e6);
      expect(seconds).toEqual(seconds.map((_, index) => seconds[0]! + index));
    });
  });
});

/** Makes the database refuse the jobs of one recurring job. @returns lets them in again */
async function refuseInserts({ driver, orm }: Host, recurringId: string): Promise<() => Promise<void>> {
  const em = orm.em.fork();
  if (driver === 'sqlite') {
    await em.execute(
      `create trigger refuse before insert on durable_job when new.recurring_id = '${recurringId}' begin select raise(abort, 'refused'); end`,
    );
    return async () => void (await em.execute('drop trigger refuse'));
  }

  await em.execute(`alter table durable_job add constraint refuse check (recurring_id <> '${recurringId}') not valid`);
  return async () => void (await em.execute('alter table durable_job drop constraint refuse'));
}

function occurrence(row: Made): number {
  return Number(row.initial_not_before);
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | null {
  return list.length > 0 ? list : null;
}
