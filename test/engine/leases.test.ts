import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { defineJob } from '../../src/core/definition.ts';
import { spawnNode, type Child } from '../support/child.ts';
import { dbNameOf, forEachDriver } from '../support/orm.ts';
import { useSeveral } from './support/several.ts';
import { eventually, seeded } from './support/wait.ts';

const work = defineJob<{ ms: number }>()({ name: 'work', onInterrupt: 'requeue' });
const slow = defineJob<unknown>()({ name: 'slow', onInterrupt: 'requeue' });
const busy = defineJob<{ file: string }>()({ name: 'busy', onInterrupt: 'requeue' });
const held = defineJob<unknown>()({ name: 'held', onInterrupt: 'requeue' });

interface Effect {
  readonly job_id: string;
  readonly attempt: number;
  readonly worker: string;
}

forEachDriver(driver => {
  describe('a store', () => {
    const { hosts, clock } = useSeveral(driver, 4);
    const rounds = driver === 'postgresql' ? 50 : 10;

    test('lets exactly one of four declare an executor dead, and recovers each of its jobs once', async () => {
      for (let round = 1; round <= rounds; round++) {
        const { jobs } = hosts[0]!;
        const id = `executor-${round}`;
        await jobs.store.register({ id, name: 'n', host: 'h', leaseUntil: clock.now() + 1e6, metadata: {} });
        await jobs.submit(Array.from({ length: 5 }, () => work.create({ ms: 0 })));
        const claimed = await jobs.store.claim({ executorId: id, definitions: [work], queues: null, limit: 5 });
        clock.advance(1000);

        const answers = await Promise.all(hosts.map(host => host.jobs.store.recoverLapsed(100)));

        expect(claimed.attempts).toHaveLength(5);
        expect(answers.flatMap(({ lapsed }) => lapsed)).toEqual([id]);
        expect(answers.reduce((sum, { recovered }) => sum + recovered.length, 0)).toBe(5);
        for (const attempt of claimed.attempts) await jobs.store.cancel(attempt, {});
      }
    });

    test('declares none dead a moment before the end of its lease, nor one that renewed at the last moment', async () => {
      const { store } = hosts[0]!.jobs;
      await store.register({ id: 'e', name: 'n', host: 'h', leaseUntil: clock.now() + 1e6, metadata: {} });

      clock.set(clock.now() + 999_999);
      expect(await store.recoverLapsed(10)).toEqual({ lapsed: [], recovered: [] });
      clock.set(clock.now() + 1);
      expect(await store.renew('e', clock.now() + 1e6)).toMatchObject({ answer: 'renewed' });
      expect(await store.recoverLapsed(10)).toEqual({ lapsed: [], recovered: [] });
    });

    test('recovers a dead executor’s jobs as each declares: held, run again, cancelled, or out of starts', async () => {
      const { jobs } = hosts[0]!;
      await jobs.store.register({ id: 'e', name: 'n', host: 'h', leaseUntil: clock.now() + 1e6, metadata: {} });
      const ids = ['hold', 'requeue', 'cancelled', 'spent'];
      await jobs.submit([
        work.create({ ms: 0 }, { id: 'hold', onInterrupt: 'hold' }),
        work.create({ ms: 0 }, { id: 'requeue' }),
        work.create({ ms: 0 }, { id: 'cancelled' }),
        work.create({ ms: 0 }, { id: 'spent', maxAttempts: 1 }),
      ]);
      for (const id of ids) await jobs.store.tryStart({ scope: '', id }, 'e');
      await jobs.scope('').cancel('cancelled');
      clock.advance(1000);

      const { lapsed, recovered } = await hosts[1]!.jobs.store.recoverLapsed(10);
      expect([lapsed, recovered.length]).toEqual([['e'], 4]);

      const found = await Promise.all(ids.map(id => jobs.scope('').get(id)));
      expect(found.map(job => [job!.state, job!.failureReason])).toEqual([
        ['interrupted', 'lease_lapsed'],
        ['queued', 'lease_lapsed'],
        ['cancelled', 'cancel_requested'],
        ['interrupted', 'lease_lapsed'],
      ]);
      expect((await jobs.scope('').attempts('requeue')).map(({ state }) => state)).toEqual(['interrupted']);
    });

    test('starts nothing for an executor that is dead, stopped or unknown', async () => {
      const { jobs } = hosts[0]!;
      await jobs.store.register({ id: 'dead', name: 'n', host: 'h', leaseUntil: clock.now() + 1e6, metadata: {} });
      await jobs.store.register({ id: 'stopped', name: 'n', host: 'h', leaseUntil: null, metadata: {} });
      await jobs.store.retire('stopped');
      clock.advance(1000);
      await jobs.store.recoverLapsed(10);
      const { job } = await jobs.submit(work.create({ ms: 0 }));

      for (const executorId of ['dead', 'stopped', 'unknown']) {
        const answer = await jobs.store.claim({ executorId, definitions: [work], queues: null, limit: 5 });
        expect(answer.attempts).toEqual([]);
        expect(await jobs.store.tryStart(job, executorId)).toBeNull();
      }
      expect(await jobs.store.renew('dead', clock.now() + 1e6)).toEqual({ answer: 'lapsed' });
    });
  });

  describe('processes', () => {
    const { hosts } = useSeveral(driver, 1, { clock: systemClock });
    const children: Child[] = [];
    const only = () => hosts[0]!;
    beforeEach(async () => {
      const em = only().orm.em.fork();
      await em.execute('drop table if exists effect');
      await em.execute('create table effect (job_id varchar(64) primary key, attempt integer, worker varchar(64))');
    });
    afterEach(async () => void (await Promise.all(children.splice(0).map(child => child.kill()))));

    test('that are killed at random leave every job ended, and every effect there once', async () => {
      const random = seeded(20_260_101);
      const count = driver === 'postgresql' ? 3 : 2;
      const kills = driver === 'postgresql' ? 6 : 3;
      const fleet = await Promise.all(range(count).map(index => start(`w${index}`)));
      const ids: string[] = [];
      const succeeded = async () => (await only().jobs.admin.counts()).byState.succeeded;

      for (let kill = 1; kill <= kills; kill++) {
        const batch = range(20).map(index => {
          const onInterrupt = index % 4 === 0 ? 'hold' : 'requeue';
          return work.create({ ms: Math.floor(random() * 150) }, { id: `${kill}-${index}`, onInterrupt });
        });
        ids.push(...batch.map(({ id }) => id));
        await only()
          .orm.em.fork()
          .transactional(em => only().jobs.stage(em, batch));
        const enough = (await succeeded()) + 1 + Math.floor(random() * 12);
        await eventually(async () => (await succeeded()) >= enough);

        const victim = Math.floor(random() * count);
        await fleet[victim]!.kill('SIGKILL');
        fleet[victim] = await start(`w${victim}`);
      }
      await eventually(async () => {
        const { byState } = await only().jobs.admin.counts();
        return byState.queued + byState.running + byState.awaiting === 0;
      });
      for (const child of fleet) child.process.kill('SIGTERM');
      const exits = await Promise.all(fleet.map(child => child.exited));

      expect(exits.map(({ code }) => code)).toEqual(fleet.map(() => 0));
      const states = new Map(await jobStates());
      expect([...states.keys()].sort()).toEqual([...ids].sort());
      const done = [...states].filter(([, state]) => state === 'succeeded').map(([id]) => id);
      const rest = [...states].filter(([, state]) => state !== 'succeeded');
      expect((await effects()).map(({ job_id }) => job_id).sort()).toEqual(done.sort());
      // Only those that may not be run again are left, and each was cut short by a kill.
      expect(rest.filter(([id, state]) => state !== 'interrupted' || Number(id.split('-')[1]) % 4 !== 0)).toEqual([]);
      expect(await wrongAttempts()).toEqual([]);
    }, 180_000);

    if (driver === 'postgresql') {
      test('that were stopped past their lease find their work taken over: the late commit is refused, the effect there once', async () => {
        const stopped = await start('stopped');
        await only().jobs.submit(slow.create({}, { id: 'slow', queue: 'default' }));
        await stopped.line('began slow 1');
        stopped.process.kill('SIGSTOP');
        const other = await start('other');
        const before = await eventually(async () => (await executors()).find(({ name, state }) => name === 'stopped' && state === 'lapsed')); // prettier-ignore
        await eventually(async () => (await only().jobs.scope('').get('slow'))!.attemptCount === 2);

        other.process.kill('SIGUSR2');
        stopped.process.kill('SIGCONT');
        await stopped.line('log lease_lost');
        stopped.process.kill('SIGUSR2');

        expect(await stopped.line('refused slow 1')).toBe('refused slow 1 lost');
        await other.line('committed slow 2');
        expect(await effects()).toMatchObject([{ job_id: 'slow', attempt: 2, worker: 'other' }]);
        expect(await only().jobs.scope('').get('slow')).toMatchObject({ state: 'succeeded', attemptCount: 2 });

        const anew = await eventually(async () => (await executors()).find(({ name, state }) => name === 'stopped' && state === 'active')); // prettier-ignore
        expect(anew.id).not.toBe(before.id);
        await only().jobs.submit(work.create({ ms: 0 }, { id: 'next', queue: 'stopped' }));
        expect(await only().jobs.scope('').wait('next', { timeout: '50s' })).toMatchObject({ state: 'succeeded' });
      });
    }

    test('that were stopped past their lease tell their handlers, whose results count no more', async () => {
      const stopped = await start('stopped');
      await only().jobs.submit(held.create({}, { id: 'held', onInterrupt: 'hold' }));
      await stopped.line('began held 1');
      stopped.process.kill('SIGSTOP');
      await start('other');
      await eventually(async () => (await only().jobs.scope('').get('held'))!.state === 'interrupted');

      stopped.process.kill('SIGCONT');

      expect(await stopped.line('aborted held')).toBe('aborted held 1 lost');
      await stopped.line('log late_result');
      expect(await only().jobs.scope('').get('held')).toMatchObject({
        state: 'interrupted',
        failureReason: 'lease_lapsed',
      });
    });

    test('whose handler keeps the thread past their lease find its job done by another, whose result stays', async () => {
      const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'busy-')), 'go-on');
      const blocked = await start('blocked');
      await only().jobs.submit(busy.create({ file }, { id: 'busy' }));
      await blocked.line('began busy 1');
      await start('other');
      expect(await only().jobs.scope('').wait('busy', { timeout: '50s' })).toMatchObject({ resultRef: 'other' });

      fs.writeFileSync(file, '');
      await blocked.line('log lease_lost');
      blocked.process.kill('SIGTERM');
      await blocked.exited;
      fs.rmSync(path.dirname(file), { recursive: true });

      const control = only().jobs.scope('');
      expect(await control.get('busy')).toMatchObject({ state: 'succeeded', resultRef: 'other', attemptCount: 2 });
      expect((await control.attempts('busy')).map(({ state }) => state)).toEqual(['interrupted', 'succeeded']);
    });

    async function start(name: string): Promise<Child> {
      const child = spawnNode('test/engine/programs/worker.ts', [driver, dbNameOf(only().orm), name]);
      children.push(child);
      await child.line('started');
      return child;
    }

    async function executors() {
      return only().jobs.admin.executors({ all: true });
    }

    async function rows<T>(sql: string): Promise<T[]> {
      return (await only().orm.em.fork().execute(sql)) as T[];
    }

    async function effects(): Promise<Effect[]> {
      return rows('select * from effect order by job_id');
    }

    async function jobStates(): Promise<Array<[id: string, state: string]>> {
      return (await rows<{ id: string; state: string }>('select id, state from durable_job')).map(({ id, state }) => [id, state]); // prettier-ignore
    }

    /** Attempts that no effect may come from, or that ended in no way that a kill explains. */
    async function wrongAttempts(): Promise<unknown[]> {
      return rows(`
        select a.job_id, a.ordinal, a.state, e.attempt
        from durable_job_attempt a left join effect e on e.job_id = a.job_id
        where (a.state = 'succeeded') <> (e.attempt is not null and e.attempt = a.ordinal)
           or a.state not in ('succeeded', 'interrupted')`);
    }
  });
});

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
