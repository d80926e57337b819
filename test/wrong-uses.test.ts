import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Admin } from '../src/core/admin.ts';
import type { DeadLetters } from '../src/core/dead-letters.ts';
import type { Control } from '../src/core/control.ts';
import { InvalidOptionError, type JobsError } from '../src/core/errors.ts';
import type { Message } from '../src/core/message.ts';
import type { QueueControl } from '../src/core/queue-control.ts';
import type { RecurringControl } from '../src/core/recurring-control.ts';
import { jobEntities } from '../src/entities/index.ts';
import { Jobs } from '../src/jobs.ts';
import { MemoryJobs } from '../src/memory/index.ts';
import { sendMail } from './support/builders.ts';
import { createOrm, dropOrm, forEachDriver, type TestOrm } from './support/orm.ts';

/** As JavaScript sees it: every argument may be anything. */
type Untyped<T> = { readonly [K in keyof T]: (...args: unknown[]) => unknown };

interface Host {
  readonly jobs: Untyped<Jobs>;
  readonly events: Untyped<Jobs['events']>;
  readonly scope: Untyped<Control>;
  readonly admin: Untyped<Admin>;
  readonly deadLetters: Untyped<DeadLetters>;
  readonly queues: Untyped<QueueControl>;
  readonly recurring: Untyped<RecurringControl>;
  readonly unitOfWork: Untyped<Jobs['unitOfWork']>;
  readonly orm: TestOrm;
}

type WrongUse = [title: string, option: string, call: (host: Host) => unknown];

const message: Message = { id: 'm-1', name: 'order.paid', version: '1', content: '{}' };
const nothing = async () => {};
const handler = { definition: sendMail, run: nothing };
const daily = { cron: '0 3 * * *', job: sendMail.create({}) };
const log = () => {};

const misspelt: WrongUse[] = [
  ['jobs.executor()', 'concurency', ({ jobs }) => jobs.executor({ handlers: [handler], concurency: 5 })],
  ['scope.cancel()', 'reasons', ({ scope }) => scope.cancel('a', { reasons: 'x' })],
  ['scope.retry()', 'when', ({ scope }) => scope.retry('a', { when: new Date() })],
  ['scope.wait()', 'timeOut', ({ scope }) => scope.wait('a', { timeout: '1s', timeOut: '1s' })],
  ['scope.list()', 'scope', ({ scope }) => scope.list({ scope: 'another' })],
  ['scope.list(), its page', 'after', ({ scope }) => scope.list({}, { after: 'x' })],
  ['scope.counts()', 'scope', ({ scope }) => scope.counts({ scope: 'another' })],
  ['admin.list()', 'state', ({ admin }) => admin.list({ state: 'failed' })],
  ['admin.list(), its page', 'limits', ({ admin }) => admin.list({}, { limits: 10 })],
  ['admin.counts()', 'queue', ({ admin }) => admin.counts({ queue: 'mail' })],
  ['admin.executors()', 'al', ({ admin }) => admin.executors({ al: true })],
  ['admin.cancelAll()', 'previw', ({ admin }) => admin.cancelAll({}, { limit: 1, previw: true })],
  ['admin.cancelAll(), its filter', 'queue', ({ admin }) => admin.cancelAll({ queue: 'mail' }, { limit: 1 })],
  ['deadLetters.retry()', 'why', ({ deadLetters }) => deadLetters.retry({}, { limit: 1, why: 'x' })],
  ['deadLetters.resurrect()', 'by', ({ deadLetters }) => deadLetters.resurrect({}, { limit: 1, by: 'ann' })],
  ['deadLetters.purge(), its filter', 'names', ({ deadLetters }) => deadLetters.purge({ names: ['a'] }, { limit: 1 })],
  ['scope.resurrect()', 'repair', ({ scope }) => scope.resurrect('a', { repair: {} })],
  ['queues.pause()', 'by', ({ queues }) => queues.pause('mail', { by: 'ann' })],
  ['queues.resume()', 'by', ({ queues }) => queues.resume('mail', { by: 'ann' })],
  ['queues.limit()', 'by', ({ queues }) => queues.limit('mail', 1, { by: 'ann' })],
  ['recurring.upsert()', 'timezone', ({ recurring }) => recurring.upsert('a', { ...daily, timezone: 'UTC' })],
  ['recurring.replaceAll()', 'missd', ({ recurring }) => recurring.replaceAll({ a: { ...daily, missd: 'one' } })],
  ['recurring.get()', 'count', ({ recurring }) => recurring.get('a', { count: 3 })],
  ['recurring.list()', 'occurences', ({ recurring }) => recurring.list({ occurences: 3 })],
  ['unitOfWork.execute()', 'abort', ({ unitOfWork }) => unitOfWork.execute(nothing, { abort: 1 })],
  ['unitOfWork.consume()', 'abort', ({ unitOfWork }) => unitOfWork.consume(message, 'a', nothing, { abort: 1 })],
  ['new Jobs()', 'loger', ({ orm }) => jobsWith({ orm, loger: console })],
  ['new Jobs(), unitOfWork', 'unitOfWork.leese', ({ orm }) => jobsWith({ orm, unitOfWork: { leese: '1m' } })],
  ['new Jobs(), retry', 'retry.bas', ({ orm }) => jobsWith({ orm, unitOfWork: { retry: { bas: '1s' } } })],
  ['jobs.health()', 'maxlag', ({ jobs }) => jobs.health({ maxlag: '1m' })],
  ['new MemoryJobs()', 'orm', ({ orm }) => new MemoryJobs({ orm } as object)],
  ['MemoryJobs.executor()', 'queue', () => new MemoryJobs().executor({ handlers: [handler as never], queue: 'a' } as never)],
]; // prettier-ignore

const noOptions: WrongUse[] = [
  ['nothing for executor()', 'options', ({ jobs }) => jobs.executor()],
  ['null for executor()', 'options', ({ jobs }) => jobs.executor(null)],
  ['a list of handlers for executor()', 'options', ({ jobs }) => jobs.executor([handler])],
  ['no handlers for executor()', 'handlers', ({ jobs }) => jobs.executor({})],
  ['null for cancel()', 'options', ({ scope }) => scope.cancel('a', null)],
  ['text for cancel()', 'options', ({ scope }) => scope.cancel('a', 'because')],
  ['a Date for retry()', 'at', ({ scope }) => scope.retry('a', { at: '2030-01-01' })],
  ['nothing for wait()', 'options', ({ scope }) => scope.wait('a')],
  ['a number for wait()', 'options', ({ scope }) => scope.wait('a', 1000)],
  ['null for list()', 'options', ({ admin }) => admin.list(null)],
  ['nothing for cancelAll()', 'options', ({ admin }) => admin.cancelAll({})],
  ['nothing for deadLetters.retry()', 'options', ({ deadLetters }) => deadLetters.retry({})],
  ['nothing for deadLetters.resurrect()', 'options', ({ deadLetters }) => deadLetters.resurrect({})],
  ['null for pause()', 'options', ({ queues }) => queues.pause('mail', null)],
  ['nothing for upsert()', 'options', ({ recurring }) => recurring.upsert('a')],
  ['a list for replaceAll()', 'jobs', ({ recurring }) => recurring.replaceAll([daily])],
  ['null for recurring.list()', 'options', ({ recurring }) => recurring.list(null)],
  ['null for execute()', 'options', ({ unitOfWork }) => unitOfWork.execute(nothing, null)],
  ['no work for execute()', 'work', ({ unitOfWork }) => unitOfWork.execute()],
  ['no work for consume()', 'work', ({ unitOfWork }) => unitOfWork.consume(message, 'billing')],
  ['a controller for a signal', 'signal', ({ unitOfWork }) => unitOfWork.execute(nothing, { signal: new AbortController() })],
  ['no em for stage()', 'em', ({ jobs }) => jobs.stage(undefined, sendMail.create({}))],
  ['a function that is no handler', 'handlers', ({ jobs }) => jobs.executor({ handlers: [nothing] })],
  ['a function for middleware', 'middleware', ({ jobs }) => jobs.executor({ handlers: [handler], middleware: nothing })],
  ['no function for events.subscribe()', 'listener', ({ events }) => events.subscribe()],
  ['no function for handler()', 'handler of mail.send', ({ jobs }) => jobs.handler(sendMail)],
  ['no definition for handler()', 'definition', ({ jobs }) => jobs.handler('mail.send', nothing)],
]; // prettier-ignore

const hosts: WrongUse[] = [
  ['nothing', 'orm', () => jobsWith(undefined)],
  ['an ORM instead of options', 'orm', ({ orm }) => jobsWith(orm)],
  ['an EntityManager for an ORM', 'orm', ({ orm }) => jobsWith({ orm: orm.em })],
  ['a logger that is empty', 'logger', ({ orm }) => jobsWith({ orm, logger: {} })],
  ['a logger without all methods', 'logger', ({ orm }) => jobsWith({ orm, logger: { warn: log } })],
  ['a logger that is null', 'logger', ({ orm }) => jobsWith({ orm, logger: null })],
  ['a clock that is empty', 'clock', ({ orm }) => jobsWith({ orm, clock: {} })],
  ['a clock that answers a Date', 'clock', ({ orm }) => jobsWith({ orm, clock: { now: () => new Date() } })],
  ['a clock of fractions', 'clock', ({ orm }) => jobsWith({ orm, clock: { now: () => 0.5 } })],
  ['notifications of something', 'notifications', ({ orm }) => jobsWith({ orm, notifications: {} })],
  ['notifications of more', 'notifications', ({ orm }) => jobsWith({ orm, notifications: { connectionString: 'x', url: 'y' } })],
  ['a trace that is no function', 'trace', ({ orm }) => jobsWith({ orm, trace: 'x' })],
  ['unitOfWork of nothing', 'unitOfWork', ({ orm }) => jobsWith({ orm, unitOfWork: null })],
  ['a lifetime for messages', 'retry.lifetime', ({ orm }) => jobsWith({ orm, unitOfWork: { retry: { lifetime: '1d' } } })],
  ['a memory logger that is empty', 'logger', () => new MemoryJobs({ logger: {} } as object)],
  ['a memory trace that is no function', 'trace', () => new MemoryJobs({ trace: 'x' } as object)],
  ['a memory clock that is empty', 'clock', () => new MemoryJobs({ clock: {} } as object)],
]; // prettier-ignore

const filters: WrongUse[] = [
  ['a state that is none', 'states', ({ admin }) => admin.cancelAll({ states: ['faild'] }, { limit: 1 })],
  ['a reason that is none', 'reasons', ({ admin }) => admin.cancelAll({ reasons: ['time_out'] }, { limit: 1 })],
  ['a state that is no list', 'states', ({ scope }) => scope.list({ states: 'failed' })],
  ['queues that are numbers', 'queues', ({ admin }) => admin.counts({ queues: [1] })],
  ['an instant that is text', 'createdFrom', ({ admin }) => admin.list({ createdFrom: '2030-01-01' })],
  ['an instant that is invalid', 'createdBefore', ({ admin }) => admin.list({ createdBefore: new Date(NaN) })],
  ['a scope that is no text', 'scope', ({ admin }) => admin.list({ scope: 5 })],
  ['a recurring id that is no text', 'recurringId', ({ admin }) => admin.list({ recurringId: 5 })],
  ['a reason over 1 KiB', 'reason', ({ admin }) => admin.cancelAll({}, { limit: 1, reason: 'x'.repeat(1025) })],
  ['an actor that is empty', 'actor', ({ deadLetters }) => deadLetters.retry({}, { limit: 1, actor: '' })],
  ['a missed that is more', 'missed', ({ recurring }) => recurring.upsert('a', { ...daily, missed: { upTo: 1, from: 1 } })],
]; // prettier-ignore

/** Each numeric option, with what none of them can be. */
const numbers: [option: string, call: (value: unknown) => (host: Host) => unknown][] = [
  ...['concurrency', 'pollInterval', 'progressInterval', 'renewEvery', 'maintenanceInterval', 'drainTimeout', 'abortGrace', 'lease', 'clockSkew']
    .map((option): [string, (value: unknown) => (host: Host) => unknown] => [
      option,
      value => ({ jobs }) => jobs.executor({ handlers: [handler], [option]: value }),
    ]),
  ['connectionTimeout', value => ({ orm }) => jobsWith({ orm, connectionTimeout: value })],
  ...['lease', 'maxFailures', 'busyWait', 'busyCheckEvery'].map((option): [string, (value: unknown) => (host: Host) => unknown] => [
    option,
    value => ({ orm }) => jobsWith({ orm, unitOfWork: { [option]: value } }),
  ]),
  ...['base', 'factor', 'cap', 'jitter'].map((option): [string, (value: unknown) => (host: Host) => unknown] => [
    `retry.${option}`,
    value => ({ orm }) => jobsWith({ orm, unitOfWork: { retry: { [option]: value } } }),
  ]),
  ['timeout', value => ({ scope }) => scope.wait('a', { timeout: value })],
  ['limit', value => ({ admin }) => admin.list({}, { limit: value })],
  ['limit', value => ({ admin }) => admin.cancelAll({}, { limit: value })],
  ['limit', value => ({ deadLetters }) => deadLetters.retry({}, { limit: value })],
  ['maxRunning', value => ({ queues }) => queues.limit('mail', value)],
  ['occurrences', value => ({ recurring }) => recurring.list({ occurrences: value })],
  ['missed', value => ({ recurring }) => recurring.upsert('a', { ...daily, missed: { upTo: value } })],
]; // prettier-ignore
const absurd = [NaN, -1, Infinity, -Infinity, 1e300, 'many', {}];

forEachDriver(driver => {
  const queries: string[] = [];
  let host: Host;

  beforeAll(async () => {
    const orm = await createOrm(driver, jobEntities, {
      debug: ['query'],
      logger: sql => queries.push(sql),
    });
    host = hostOn(orm, new Jobs({ orm }));
  });
  beforeEach(() => void (queries.length = 0));
  afterAll(() => dropOrm(host.orm));

  async function refusal(call: WrongUse[2]): Promise<JobsError> {
    try {
      await call(host);
    } catch (error) {
      expect(queries).toEqual([]);
      return error as JobsError;
    }
    throw new Error('It was taken.');
  }

  test.each(misspelt)('a misspelt option of %s is refused by name, before any SQL: %s', async (_, option, call) => {
    const error = await refusal(call);

    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error).toMatchObject({ option, rule: expect.stringContaining('the options are `') });
  });

  describe.each([
    ['what is no options', noOptions],
    ['what is no host', hosts],
    ['what is no filter', filters],
  ])('%s', (_, uses) => {
    test.each(uses)('%s is refused before any SQL, as %s', async (_, option, call) => {
      const error = await refusal(call);

      expect(error).toBeInstanceOf(InvalidOptionError);
      expect(error).toMatchObject({ option });
      expect(error.message).not.toContain('[object Object]');
    });
  });

  test.each(numbers)('%s is refused where it is no number that it can be', async (option, call) => {
    // A factor may be huge: the delay ends at its cap.
    for (const value of absurd.filter(value => option !== 'retry.factor' || value !== 1e300)) {
      expect(await refusal(call(value))).toMatchObject({ code: 'INVALID_OPTION', option });
    }
  });

  test('a misspelt option of an outgoing message is refused by name', async () => {
    const add = host.unitOfWork.execute(async (unit: { outbox: { add(...args: unknown[]): void } }) => {
      unit.outbox.add(message, { sendbefore: new Date() });
    });

    await expect(add).rejects.toMatchObject({ code: 'INVALID_MESSAGE', field: 'sendbefore' });
  });

  test('a second submission that is no part of a list is refused, and none is stored', async () => {
    const [first, second] = [sendMail.create({}), sendMail.create({})];
    const { jobs, unitOfWork, orm } = host;
    type UntypedUnit = { stage(...submissions: unknown[]): unknown };

    for (const call of [
      () => jobs.submit(first, second),
      () => orm.em.fork().transactional(em => jobs.stage(em, first, second) as Promise<unknown>),
      () => unitOfWork.execute((unit: UntypedUnit) => unit.stage(first, second)),
      () => (new MemoryJobs() as unknown as Host['jobs']).submit(first, second),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'INVALID_SUBMISSION', field: 'submissions' });
    }
    expect(await host.admin.list()).toMatchObject({ jobs: [] });
  });

  test('options that hold nothing are as good as none', async () => {
    expect(await host.scope.cancel('a', { reason: undefined })).toBe('not_found');
  });

  test('calls on a database without tables say which command makes them', async () => {
    const orm = await createOrm(driver, jobEntities, { createSchema: false });
    const { jobs, unitOfWork, scope } = hostOn(orm, new Jobs({ orm }));

    for (const call of [
      () => unitOfWork.consume(message, 'billing', nothing),
      () => jobs.submit(sendMail.create({})),
      () => scope.get('a'),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'SCHEMA_MISSING' });
    }
    await dropOrm(orm);
  });
});

function hostOn(orm: TestOrm, jobs: Jobs): Host {
  const { admin, deadLetters, events, queues, recurring, unitOfWork } = jobs;
  const scope = jobs.scope('');

  return { orm, jobs, scope, admin, deadLetters, events, queues, recurring, unitOfWork } as unknown as Host;
}

function jobsWith(options: unknown): Jobs {
  return new Jobs(options as { orm: TestOrm });
}
