import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Attempt } from '../../../src/core/attempt.ts';
import { JobIdentityConflictError } from '../../../src/core/errors.ts';
import { aClaim, aSubmission, createJobs, someSubmissions, type TestJobs } from '../../support/builders.ts';
import { dropOrm, forEachDriver } from '../../support/orm.ts';
import { aDueJob, aRunningJob, dueJobs, keyOf, outcomes, stored, succeeded } from './given.ts';
import { StatementLog } from './statement-log.ts';

interface Case {
  readonly call: string;
  readonly ask: (on: TestJobs, attempt: Attempt) => Promise<unknown>;
  /** Beside the key. */
  readonly index?: string;
}

const cases: Case[] = [
  { call: 'get', ask: ({ store }, attempt) => store.get(keyOf(attempt)) },
  {
    call: 'attempts',
    ask: ({ store }, attempt) => store.attempts(keyOf(attempt)),
    index: 'durable_job_attempt_pkey',
  },
  { call: 'status', ask: ({ store }, attempt) => store.status([attempt]) },
  { call: 'progress', ask: ({ store }, attempt) => store.progress([{ ...attempt, value: 1, message: null }]) },
  {
    call: 'settle',
    ask: ({ store }, attempt) => store.settle([succeeded(attempt), succeeded({ ...attempt, attempt: 2 })]),
  },
  { call: 'release', ask: ({ store }, attempt) => store.release([attempt]) },
  { call: 'recover', ask: ({ store }, attempt) => store.recover([attempt], { requeue: 'never', reason: 'shutdown' }) },
  { call: 'cancel', ask: ({ store }, attempt) => store.cancel(keyOf(attempt), {}) },
  { call: 'tryStart', ask: async on => on.store.tryStart(await aDueJob(on), 'executor-1') },
  { call: 'runNow', ask: async on => on.store.runNow(await aDueJob(on)) },
  {
    call: 'retry',
    ask: async ({ store }, attempt) => (
      await store.settle([outcomes.failed(attempt)]),
      store.retry(keyOf(attempt), {})
    ),
  },
  {
    call: 'resurrect',
    ask: async ({ store }, attempt) => (
      await store.settle([outcomes.failed(attempt)]),
      store.resurrect(keyOf(attempt), {})
    ),
  },
  {
    call: 'prune',
    ask: ({ store }) => {
      const finishedBefore = { succeeded: 4, failed: 4, cancelled: null, interrupted: null };
      return store.prune({ finishedBefore, executorsBefore: 0, limit: 1000 });
    },
    index: 'durable_job_finished',
  },
  { call: 'purge', ask: ({ store }, attempt) => store.purge([keyOf(attempt)], ['failed']) },
  {
    call: 'list of dead letters',
    ask: ({ store }) => store.list({ states: ['failed', 'interrupted'] }, { after: null, limit: 50 }),
    index: 'durable_job_finished',
  },
  {
    call: 'countsByReason of dead letters',
    ask: ({ store }) => store.countsByReason({ states: ['failed'] }),
    index: 'durable_job_finished',
  },
  {
    call: 'running of one executor',
    ask: ({ store }) => store.running({ executorId: 'executor-1', unleased: true, limit: 10 }),
    index: 'durable_job_running_executor',
  },
  {
    call: 'submit',
    ask: ({ store }) => store.submit([aSubmission(), aSubmission({ uniqueKey: 'k' }), aSubmission({ uniqueKey: 'k' })]),
    index: 'durable_job_unique',
  },
  {
    call: 'submit of a job that waits for a running one',
    ask: ({ store }, attempt) => store.submit([aSubmission({ after: [keyOf(attempt)] })]),
  },
  {
    call: 'submit of a batch that conflicts',
    ask: ({ store }, attempt) => {
      const conflicting = [aSubmission(), aSubmission({ id: attempt.id, payload: 'another' })];
      return expect(store.submit(conflicting)).rejects.toThrow(JobIdentityConflictError);
    },
  },
];

forEachDriver(driver => {
  const log = new StatementLog();
  let on: TestJobs;
  beforeAll(async () => {
    on = await createJobs(driver, log.options);
    await fill(on);
  });
  afterAll(() => dropOrm(on.orm));

  describe('among thousands of finished, running, future and unknown jobs', () => {
    test('a claim goes through the index of claims, of some queues and of all', async () => {
      await aDueJob(on, { queue: 'mail', priority: 3 });

      const ofSome = await log.of(() => on.store.claim(aClaim({ queues: ['mail', 'reports'] })));
      await aDueJob(on, { queue: 'mail', priority: 3 });
      const ofAll = await log.of(() => on.store.claim(aClaim({ queues: null })));

      for (const statements of [ofSome, ofAll]) {
        const [look, claim] = await Promise.all(statements.filter(isQuery).map(plan));
        expect(look!.scans).toEqual([]);
        expect(look!.indexes).toContain('durable_job_claim');
        expect(claim!.scans).toEqual([]);
        expect(claim!.indexes).toContain('durable_job_claim');
      }
    });

    if (driver === 'postgresql') {
      test.each([
        ['settle', ({ store }, attempts) => store.settle(attempts.map(attempt => succeeded(attempt)))],
        [
          'progress',
          ({ store }, attempts) => store.progress(attempts.map(ref => ({ ...ref, value: 1, message: null }))),
        ],
        ['release', ({ store }, attempts) => store.release(attempts)],
        ['recover', ({ store }, attempts) => store.recover(attempts, { requeue: 'never', reason: 'shutdown' })],
      ] satisfies Array<[string, (on: TestJobs, attempts: readonly Attempt[]) => Promise<unknown>]>)(
        'the planner expects as many rows from the list of %s as it has',
        async (_, ask) => {
          const attempts = [await aRunningJob(on), await aRunningJob(on)];

          const [statement] = (await log.of(() => ask(on, attempts))).filter(isQuery);

          expect((await postgresPlan(statement!)).expectedOfLists).toEqual([2]);
        },
      );

      test('a claim begins in the index where the last one ended, and reads nothing that is before that', async () => {
        const claimOne = aClaim({ queues: ['places'], limit: 1 });
        await dueJobs(on, someSubmissions(3, { queue: 'places' }));
        let [last] = (await on.store.claim(claimOne)).attempts;

        for (const _ of ['second', 'third']) {
          const createdAt = (await stored(on, last!)).job!.created_at!;
          const [statement] = await log.of(async () => ([last] = (await on.store.claim(claimOne)).attempts));

          const { conditions } = await postgresPlan(statement!);
          const place = new RegExp(`ROW\\(next_run_at, created_at\\) >= ROW\\(.*\\D${createdAt}\\D`);
          expect(conditions).toContainEqual(expect.stringMatching(place));
        }
      });
    }

    test.each(cases)('$call finds its rows by index', async ({ ask, index = 'durable_job_pkey' }) => {
      const attempt = await aRunningJob(on);

      const statements = await log.of(() => ask(on, attempt));

      const plans = await Promise.all(statements.filter(isQuery).map(plan));
      expect(plans.flatMap(({ scans }) => scans)).toEqual([]);
      expect(plans.flatMap(({ indexes }) => indexes)).toContain(index);
    });
  });

  /** Which of our tables a statement would read whole, and by which indexes it would read the others. */
  async function plan(statement: string): Promise<{ scans: string[]; indexes: string[] }> {
    return driver === 'sqlite' ? sqlitePlan(statement) : postgresPlan(statement);
  }

  async function sqlitePlan(statement: string) {
    const rows = await on.orm.em.fork().execute(`explain query plan ${statement}`, [], 'all');
    const steps = rows.map(
      ({ detail }) => /^(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(String(detail)) ?? [],
    );

    return {
      scans: steps.flatMap(([, how, table, index]) => {
        return how === 'SCAN' && index === undefined && (/^[jaed]$/.test(table!) || growing.test(table!))
          ? [table!]
          : [];
      }),
      indexes: unique(steps.flatMap(([, , , index]) => index?.replace(/^sqlite_autoindex_(\w+)_1$/, '$1_pkey') ?? [])),
    };
  }

  async function postgresPlan(statement: string) {
    const [row] = await on.orm.em.fork().execute(`explain (format json) ${statement}`, [], 'all');
    const nodes = nodesOf(Object.values(row!)[0]);

    return {
      scans: nodes
        .filter(node => node['Node Type'] === 'Seq Scan' && growing.test(node['Relation Name'] ?? ''))
        .map(node => node['Relation Name']!),
      indexes: unique(nodes.flatMap(node => node['Index Name'] ?? [])),
      expectedOfLists: nodes
        .filter(({ Plans = [] }) => Plans.some(below => below['Node Type'] === 'Function Scan'))
        .map(node => node['Plan Rows']),
      conditions: nodes.flatMap(node => node['Index Cond'] ?? []),
    };
  }
});

/** Thousands of rows that a claim of `mail.send` has no business with, and statistics that know of them. */
async function fill({ orm }: TestJobs): Promise<void> {
  const em = orm.em.fork();
  const insert = (
    prefix: string,
    name: string,
    state: string,
    columns: { nextRunAt?: string; finishedAt?: string } = {},
  ) =>
    em.execute(
      `insert into durable_job (scope_hash, id, scope, name, version, payload, queue, priority, max_attempts, attempt_limit,
         next_run_at, state, attempt_count, failure_count, on_interrupt, progress, revision, created_at, finished_at,
         attempt_token, executor_id)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
       select '${'f'.repeat(64)}', '${prefix}-' || i, '', '${name}', '1', '{}', 'mail', i % 3, 10, 10,
         ${columns.nextRunAt ?? '1'}, '${state}', 1, 0, 'hold', 0, 1, i, ${columns.finishedAt ?? 'null'},
         ${state === 'running' ? `'token-' || i, 'executor-' || (i % 50 + 100)` : 'null, null'} from n`,
    );

  await insert('finished', 'mail.send', 'succeeded', { finishedAt: 'i' });
  await insert('running', 'mail.send', 'running');
  await insert('future', 'mail.send', 'queued', { nextRunAt: '9000000000000000 + i' });
  await insert('unknown', 'nobody.knows', 'queued');
  await em.execute(
    `insert into durable_job_attempt (scope_hash, job_id, ordinal, token, executor_id, state, progress, started_at, ended_at)
     select scope_hash, id, 1, id, 'executor-0', 'succeeded', 100, 1, 2 from durable_job`,
  );
  await em.execute(
    `insert into durable_job_dependency (scope_hash, job_id, parent_id)
     select scope_hash, id, 'future-' || substr(id, 10) from durable_job where id like 'finished-%'`,
  );
  await em.execute('analyze');
}

/** Queues and executors are a handful of rows. */
const growing = /^durable_job(_attempt|_dependency)?$/;

function isQuery(statement: string): boolean {
  return /^(with|select|update|insert|delete)\b/i.test(statement) && !statement.includes('current_setting');
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Plan Rows': number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(value: unknown): PlanNode[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(nodesOf);

  return 'Node Type' in value ? [value as PlanNode, ...below] : below;
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}
