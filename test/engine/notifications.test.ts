import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import net from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { defineJob } from '../../src/core/definition.ts';
import { jobEntities } from '../../src/entities/index.ts';
import type { Executor } from '../../src/executor/executor.ts';
import { Jobs } from '../../src/jobs.ts';
import type { JobsOptions } from '../../src/jobs-options.ts';
import { Log } from '../executor/support/log.ts';
import { spawnNode } from '../support/child.ts';
import { closeOrm, createOrm, dbNameOf, drivers, dropOrm, openOrm, postgresUrl, type TestOrm } from '../support/orm.ts';
import { eventually } from './support/wait.ts';

const step = defineJob<{ n: number }>()({ name: 'step' });
const quiet = { pollInterval: '1h', maintenanceInterval: '1h', renewEvery: '15s' } as const;

interface Told {
  readonly from: string;
  readonly due?: boolean;
  readonly recurring?: boolean;
  readonly cancel?: ReadonlyArray<{ scope: string; id: string }>;
}

describe.each(drivers.filter(driver => driver === 'postgresql'))('on %s', () => {
  let orm: TestOrm;
  let submitting: TestOrm;
  let other: Jobs;
  let listener: pg.Client;
  let channel: string;
  const told: Told[] = [];
  const executors: Executor<never>[] = [];
  const log = new Log();

  beforeAll(async () => {
    orm = await createOrm('postgresql', jobEntities);
    submitting = await openOrm('postgresql', jobEntities, { dbName: dbNameOf(orm) });
    other = new Jobs({ orm: submitting });
    const holder = jobsOn();
    const executor = await started(holder);
    channel = (await listening())[0]!.query.split(' ')[1]!;
    await executor.stop();

    listener = new pg.Client({ connectionString: urlOf(dbNameOf(orm)) });
    listener.on('notification', ({ payload }) => void told.push(parsed(payload)));
    await listener.connect();
    await listener.query(`listen ${channel}`);
  });
  afterEach(async () => {
    await Promise.all(executors.splice(0).map(executor => executor.stop()));
    await orm.em.fork().execute('delete from durable_job_attempt');
    await orm.em.fork().execute('delete from durable_job');
    await orm.em.fork().execute('delete from durable_recurring_job');
    await heard();
    told.length = 0;
    log.entries.length = 0;
  });
  afterAll(async () => {
    await listener.end();
    await dropOrm(orm);
  });

  describe('another process', () => {
    let child: Submitter;
    beforeAll(async () => void (child = await Submitter.start(dbNameOf(orm))));
    afterAll(() => child.end());

    test.each(['submit', 'stage'])(
      'that did a %s has its job started at once, whatever the poll interval',
      async what => {
        const ran: string[] = [];
        await started(jobsOn(), job => void ran.push(job.id));

        await child.does(`${what} from-${what}`);

        await eventually(() => ran.length === 1);
        expect(ran).toEqual([`from-${what}`]);
      },
    );

    test('that cancels a running job reaches its handler at once, whatever the renewal', async () => {
      const aborted: string[] = [];
      const began: string[] = [];
      await started(jobsOn(), async job => {
        began.push(job.id);
        await new Promise<void>(resolve => job.signal.addEventListener('abort', () => resolve(), { once: true }));
        aborted.push(job.signal.reason.why);
      }, { ...quiet, renewEvery: '30s', lease: '60s', progressInterval: '30s' }); // prettier-ignore
      await child.does('submit cancelled');
      await eventually(() => began.length === 1);

      await child.does('cancel cancelled');

      await eventually(() => aborted.length === 1);
      expect(aborted).toEqual(['cancelled']);
      await eventually(async () => (await other.scope('').get('cancelled'))!.state === 'cancelled');
    });

    test('that makes a recurring job is heard of by the schedulers', async () => {
      const ran: string[] = [];
      await started(jobsOn(), job => void ran.push(job.id));

      await child.does('recur secondly');

      await eventually(() => ran.length >= 1);
      await child.does('remove secondly');
    });
  });

  describe('the listener', () => {
    test('comes back when its connection is cut, and looks for what it missed', async () => {
      const ran: string[] = [];
      await started(jobsOn(), job => void ran.push(job.id));
      const [before] = await eventually(async () => nonEmpty(await listening()));

      await orm.em.fork().execute(`select pg_terminate_backend(${before!.pid})`);
      await eventually(async () => (await listening()).every(({ pid }) => pid !== before!.pid));
      await other.submit(step.create({ n: 1 }, { id: 'missed' }));

      await eventually(() => ran.length === 1);
      await eventually(async () => (await listening()).length === 1);
      await other.submit(step.create({ n: 1 }, { id: 'heard' }));
      await eventually(() => ran.length === 2);
      expect(log.entries.map(({ event }) => event).filter(event => event.startsWith('listen_'))).toEqual([
        'listen_lost',
        'listen_recovered',
      ]);
    });

    test('comes back and looks after whatever it could have been told of: recurring jobs, waiting ones, cancels', async () => {
      const ran: string[] = [];
      const aborted: string[] = [];
      const later = { pollInterval: '1h', maintenanceInterval: '1h', renewEvery: '1h', lease: '2h' } as const;
      await started(jobsOn(), async job => {
        ran.push(job.id);
        if (job.id === 'long') {
          await new Promise<void>(resolve => job.signal.addEventListener('abort', () => resolve(), { once: true }));
          aborted.push(job.signal.reason.why);
        }
      }, later); // prettier-ignore
      await other.submit([step.create({ n: 1 }, { id: 'long' }), step.create({ n: 1 }, { id: 'parent' })]);
      await eventually(async () => (await other.scope('').get('parent'))!.state === 'succeeded');
      await other.submit(step.create({ n: 1 }, { id: 'child', after: [{ scope: '', id: 'parent' }] }));
      await eventually(async () => (await other.scope('').get('child'))!.state === 'succeeded');
      const [before] = await eventually(async () => nonEmpty(await listening()));

      await orm.em.fork().execute(`select pg_terminate_backend(${before!.pid})`);
      await eventually(async () => (await listening()).every(({ pid }) => pid !== before!.pid));
      await orm.em.fork().execute(`update durable_job set state = 'awaiting', finished_at = null where id = 'child'`);
      await other.recurring.upsert('secondly', { cron: '* * * * * *', job: step.create({ n: 1 }) });
      await other.scope('').cancel('long');
      ran.length = 0;

      await eventually(() => aborted.length === 1);
      await eventually(() => ran.includes('child'));
      await eventually(() => ran.some(id => id !== 'child'));
      await other.recurring.remove('secondly');
    });

    test('is one for all executors of a process, and gone after the last has stopped', async () => {
      const jobs = jobsOn();
      const [one, two] = [await started(jobs), await started(jobs)];
      await eventually(async () => (await listening()).length > 0);
      expect(await listening()).toHaveLength(1);

      await one.stop();
      expect(await listening()).toHaveLength(1);
      await two.stop();
      await eventually(async () => (await listening()).length === 0);
    });

    test('listens again after a stop and a start', async () => {
      const ran: string[] = [];
      const executor = await started(jobsOn(), job => void ran.push(job.id));
      await executor.stop();
      await executor.start();

      await other.submit(step.create({ n: 1 }));

      await eventually(() => ran.length === 1);
    });

    test.each(['its own', 'the pool’s'])(
      'on %s connection is not waited for when its server never answers',
      async whose => {
        const gate = await Gate.open();
        const behind = await openOrm('postgresql', jobEntities, {
          dbName: dbNameOf(orm),
          clientUrl: gate.urlFor(postgresUrl()),
          pool: { min: 0, max: 8, idleTimeoutMillis: 600_000 },
        } as never);
        const jobs = new Jobs({ orm: behind, logger: log, ...(whose === 'its own' && { notifications: { connectionString: gate.urlFor(postgresUrl()) } }) }); // prettier-ignore
        await Promise.all(Array.from({ length: 8 }, () => behind.em.fork().execute('select pg_sleep(0.1)')));
        gate.isMute = true;
        const executor = await started(jobs);
        await eventually(() => gate.muted > 0);

        await executor.stop();

        await closeOrm(behind);
        await gate.close();
      },
    );

    test('is not waited for by a stop that comes while it connects', async () => {
      const jobs = jobsOn();

      for (let round = 0; round < 10; round++) {
        const end = jobs.store.subscribe(() => {});
        for (let turn = 0; turn < round; turn++) await new Promise(resolve => setImmediate(resolve));
        await end();
      }

      await eventually(async () => (await listening()).length === 0);
    });

    test('hears garbage on its channel and goes on', async () => {
      const ran: string[] = [];
      await started(jobsOn(), job => void ran.push(job.id));
      await eventually(async () => (await listening()).length === 1);
      const garbage = ['', 'x', 'null', '5', '[]', '"due"', '{"cancel":5}', '{"cancel":[null,5,{}]}', '{"due":{}}', '{"cancel":[{"scope":1,"id":2}]}']; // prettier-ignore

      for (const payload of garbage) await listener.query('select pg_notify($1, $2)', [channel, payload]);
      await other.submit(step.create({ n: 1 }));

      await eventually(() => ran.length === 1);
      expect(log.troubles).toEqual([]);
    });

    test('leaves no connection and nothing that keeps the process alive', async () => {
      const child = spawnNode('test/engine/programs/listener.ts', [dbNameOf(orm)]);
      await child.line('started');

      await other.submit(step.create({ n: 1 }));

      expect(await child.exited).toEqual({ code: 0, signal: null });
      expect(child.stdout()).toContain('stopped');
      await eventually(async () => (await listening()).length === 0);
    });
  });

  describe('without notifications', () => {
    const ways: Array<[what: string, option: () => Promise<JobsOptions<never>['notifications']>, warning: string[]]> = [
      ['that are turned off', () => Promise.resolve(false), []],
      [
        'whose connection string leads nowhere',
        () => Promise.resolve({ connectionString: 'postgresql://nobody@127.0.0.1:1/none' }),
        ['listen_failed'],
      ],
    ];

    test.each(ways)('%s polling does the work, and the executor stops', async (_, option, warnings) => {
      const ran: string[] = [];
      const executor = await started(jobsOn({ notifications: await option() }), job => void ran.push(job.id), {
        ...quiet,
        pollInterval: 50,
      });

      await other.submit(step.create({ n: 1 }));

      await eventually(() => ran.length === 1);
      // A stop ends the attempt to connect, and then it has not failed.
      for (const warning of warnings) await log.until(warning);
      await executor.stop();
      expect(log.troubles).toEqual(warnings);
    });

    test('whose server never answers the executor still stops', async () => {
      const sockets: net.Socket[] = [];
      const mute = net.createServer(socket => void sockets.push(socket.on('error', () => {}).resume()));
      const port = await new Promise<number>(resolve => mute.listen(0, '127.0.0.1', () => resolve((mute.address() as net.AddressInfo).port))); // prettier-ignore
      const executor = await started(
        jobsOn({ notifications: { connectionString: `postgresql://nobody@127.0.0.1:${port}/none` } }),
      );
      await eventually(() => sockets.length > 0);

      await executor.stop();

      await eventually(() => sockets.every(socket => socket.destroyed));
      mute.close();
    });

    test.each([{}, { connectionString: '' }, 'yes', null])('%j is refused', notifications => {
      expect(() => jobsOn({ notifications: notifications as never })).toThrow(/`notifications`/);
    });
  });

  describe('what is told', () => {
    test('is nothing before the commit, and nothing after a rollback', async () => {
      const em = submitting.em.fork();
      await em.begin();
      await other.stage(em, step.create({ n: 1 }));
      await heard();
      expect(told).toEqual([]);
      await em.rollback();

      const rolledBack = submitting.em.fork().transactional(async tx => {
        await other.stage(tx, step.create({ n: 1 }));
        throw new Error('no');
      });
      await expect(rolledBack).rejects.toThrow('no');
      await heard();
      expect(told).toEqual([]);
    });

    test('comes after the commit, on another connection than the host’s', async () => {
      const em = submitting.em.fork();
      await em.begin();
      await other.stage(em, step.create({ n: 1 }));
      const [{ pid }] = (await em.execute('select pg_backend_pid() as pid')) as [{ pid: number }];
      await em.commit();

      await eventually(() => told.length > 0);

      expect(told).toMatchObject([{ due: true }]);
      expect(pid).toBeGreaterThan(0);
    });

    test('is little: a thousand submits are told of in at most one notification in ten milliseconds', async () => {
      const began = performance.now();
      for (let batch = 0; batch < 100; batch++) {
        await Promise.all(Array.from({ length: 10 }, (_, n) => other.submit(step.create({ n }))));
      }
      const tookMs = performance.now() - began;
      await eventually(() => told.length > 0);
      await heard();

      expect(told.length).toBeLessThanOrEqual(Math.ceil(tookMs / 10) + 1);
      expect(told.length).toBeLessThan(1000);
    }, 120_000);

    test('is one notification for what comes in one turn', async () => {
      await other.submit(step.create({ n: 0 }));
      await eventually(() => told.length === 1);
      await heard();
      told.length = 0;

      await Promise.all([other.queues.pause('a'), other.queues.resume('a'), other.queues.limit('a', null)]);
      await eventually(() => told.length > 0);
      await heard();

      expect(told.length).toBeLessThanOrEqual(3);
    });

    test('names a cancelled job, and leaves the names out where they would not fit', async () => {
      const jobs = jobsOn();
      const began: string[] = [];
      await started(
        jobs,
        async job => {
          began.push(job.id);
          await new Promise<void>(resolve => job.signal.addEventListener('abort', () => resolve(), { once: true }));
        },
        { ...quiet, renewEvery: 1000 },
      );
      const scope = 's'.repeat(8000);
      await other.submit([step.create({ n: 1 }, { id: 'short' }), step.create({ n: 1 }, { id: 'long', scope })]);
      await eventually(() => began.length === 2);

      await other.scope('').cancel('short');
      await eventually(() => told.some(({ cancel }) => cancel?.[0]?.id === 'short'));
      await heard();
      told.length = 0;
      expect(await other.scope(scope).cancel('long')).toBe('requested');

      const { cancel } = await eventually(() => told.find(each => each.cancel !== undefined));
      expect(cancel).toEqual([]);
      await jobs.scope(scope).cancel('long');
    });

    test('is heard once by an executor whose process tells through another Jobs', async () => {
      const hints: string[] = [];
      const end = jobsOn().store.subscribe(({ kind }) => void hints.push(kind));
      await eventually(() => hints.length === 1);

      await jobsOn().queues.pause('q');
      await eventually(() => told.length === 1);
      await heard();
      await other.queues.resume('q');
      await eventually(() => hints.length === 3);

      expect(hints).toEqual(['missed', 'due', 'due']);
      await end();
    });

    test('is heard by other processes and not by the one that tells', async () => {
      const jobs = jobsOn();
      const hints: string[] = [];
      const end = jobs.store.subscribe(({ kind }) => void hints.push(kind));
      await eventually(async () => (await listening()).length === 1);
      await eventually(() => hints.length === 1);

      await jobs.queues.pause('q');
      await eventually(() => told.length === 1);
      await heard();
      expect(hints).toEqual(['missed', 'due']);

      await other.queues.resume('q');
      await eventually(() => hints.length === 3);
      await end();
    });
  });

  function jobsOn(options: Partial<JobsOptions<never>> = {}): Jobs {
    return new Jobs({ orm, logger: log, ...options } as never);
  }

  async function started(
    jobs: Jobs,
    run: Parameters<typeof jobs.handler<typeof step>>[1] = () => {},
    options: object = quiet,
  ): Promise<Executor<never>> {
    const executor = jobs.executor({ handlers: [jobs.handler(step, run)], concurrency: 4, ...options });
    executors.push(executor as never);
    await executor.start();
    if (channel === undefined) await eventually(async () => (await listening()).length > 0);

    return executor as never;
  }

  /** The connections that listen, but for the test's own. */
  async function listening(): Promise<Array<{ pid: number; query: string }>> {
    const own = listener === undefined ? 0 : (listener as unknown as { processID: number }).processID;
    return (await orm.em
      .fork()
      .execute(
        `select pid, query from pg_stat_activity where datname = current_database() and query like 'listen %' and pid <> ${own}`,
      )) as Array<{ pid: number; query: string }>;
  }

  /** Notifications come in the order of their commits: after this one all before it were heard. */
  async function heard(): Promise<void> {
    const mark = `mark-${Math.random()}`;
    await new Promise(resolve => setTimeout(resolve, 30));
    await listener.query('select pg_notify($1, $2)', [channel, JSON.stringify({ from: mark })]);
    await eventually(() => told.some(({ from }) => from === mark));
    told.splice(0, told.length, ...told.filter(({ from }) => from !== mark));
  }

  function parsed(payload: string | undefined): Told {
    try {
      const told = JSON.parse(payload!) as Told | null;
      return typeof told === 'object' && told !== null ? told : { from: 'garbage' };
    } catch {
      return { from: 'garbage' };
    }
  }
});

/** Stands before the server; once mute, it takes new connections and never answers them. */
class Gate {
  isMute = false;
  muted = 0;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();

  static async open(): Promise<Gate> {
    const { hostname, port } = new URL(postgresUrl());
    const gate = new Gate(hostname, Number(port || 5432));
    await new Promise<void>(resolve => gate.#server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  private constructor(host: string, port: number) {
    this.#server = net.createServer(socket => {
      this.#keep(socket);
      if (this.isMute) {
        this.muted++;
        socket.resume();
        return;
      }
      const upstream = this.#keep(net.connect(port, host));
      socket.pipe(upstream).pipe(socket);
      socket.on('close', () => upstream.destroy());
    });
  }

  urlFor(server: string): string {
    const url = new URL(server);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as net.AddressInfo).port);
    return url.href;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise(resolve => this.#server.close(resolve));
  }

  #keep(socket: net.Socket): net.Socket {
    this.#sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
  }
}

/** A process that is told what to do, line by line. */
class Submitter {
  readonly #process: ChildProcess;
  #output = '';

  static async start(dbName: string): Promise<Submitter> {
    const submitter = new Submitter(dbName);
    await eventually(() => submitter.#output.includes('started\n'));
    return submitter;
  }

  private constructor(dbName: string) {
    const root = fileURLToPath(new URL('../../', import.meta.url));
    const hooks =
      process.env.MIKRO_ORM_MAJOR === '6'
        ? ['--import', pathToFileURL(`${root}test/support/mikro-orm-6-hooks.mjs`).href]
        : [];
    this.#process = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', ...hooks, 'test/engine/programs/submitter.ts', dbName],
      { cwd: root, env: { ...process.env, NODE_OPTIONS: undefined }, stdio: ['pipe', 'pipe', 'inherit'] },
    );
    this.#process.stdout!.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
  }

  async does(line: string): Promise<void> {
    this.#process.stdin!.write(`${line}\n`);
    await eventually(() => this.#output.includes(`done ${line}\n`));
  }

  async end(): Promise<void> {
    this.#process.stdin!.end();
    await new Promise(resolve => this.#process.once('close', resolve));
  }
}

function urlOf(dbName: string): string {
  const url = new URL(postgresUrl());
  url.pathname = `/${dbName}`;
  return url.href;
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | null {
  return list.length > 0 ? list : null;
}
