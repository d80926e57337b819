import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CheckConstraintViolationException } from '@mikro-orm/core';
import { attemptStates, finishedStates, jobStates } from '../../src/core/states.ts';
import {
  executorStates,
  idempotencyStates,
  inboxStates,
  jobEntities,
  missedPolicies,
  outboxStates,
  overlapPolicies,
} from '../../src/entities/index.ts';
import { createOrm, dropOrm, forEachDriver, type TestOrm } from '../support/orm.ts';
import {
  aCompletedClaim,
  aDependency,
  aFinishedJob,
  aJob,
  anAttempt,
  anEndedAttempt,
  anExecutor,
  anIdempotencyClaim,
  anInboxMessage,
  anOutboxMessage,
  aQueue,
  aRecurringJob,
  aRunningJob,
  insert,
  type Row,
} from './rows.ts';

const hash = 'b'.repeat(64);

const refused: [title: string, check: string, row: Row][] = [
  ['a job is in a state of the model', 'durable_job_state_check', aJob({ state: 'scheduled' })],
  ['a queued job has no attempt token', 'durable_job_queued_check', aJob({ attempt_token: 'token' })],
  ['a queued job has no cancel mark', 'durable_job_queued_check', aJob({ cancel_requested_at: 1 })],
  ['a queued job has starts left', 'durable_job_queued_check', aJob({ attempt_count: 3, attempt_limit: 3 })],
  ['a running job has an attempt token', 'durable_job_running_check', aRunningJob({ attempt_token: null })],
  ['a running job has an executor', 'durable_job_running_check', aRunningJob({ executor_id: null })],
  ...finishedStates.map((state): [string, string, Row] => [
    `a ${state} job has an end`,
    'durable_job_finished_check',
    aFinishedJob({ state, finished_at: null }),
  ]),
  ['an awaiting job has no end', 'durable_job_finished_check', aJob({ state: 'awaiting', finished_at: 1 })],
  ['a queued job has no end', 'durable_job_finished_check', aJob({ finished_at: 1 })],
  ['a running job has no end', 'durable_job_finished_check', aRunningJob({ finished_at: 1 })],
  ['a finished job holds no unique key', 'durable_job_unique_check', aFinishedJob({ unique_hash: hash })],
  ['a cancelled job has no result', 'durable_job_result_check', aFinishedJob({ state: 'cancelled', result_ref: 'r' })],
  ['the progress of a job is not below 0', 'durable_job_progress_check', aRunningJob({ progress: -1 })],
  ['the progress of a job is not above 100', 'durable_job_progress_check', aRunningJob({ progress: 101 })],

  ['an attempt is in a state of the model', 'durable_job_attempt_state_check', anEndedAttempt({ state: 'queued' })],
  ['an attempt that ended has an end', 'durable_job_attempt_ended_check', anEndedAttempt({ ended_at: null })],
  ['a running attempt has no end', 'durable_job_attempt_ended_check', anAttempt({ ended_at: 1 })],
  [
    'a cancelled attempt has no result',
    'durable_job_attempt_result_check',
    anEndedAttempt({ state: 'cancelled', result_ref: 'r' }),
  ],
  ['the progress of an attempt is not below 0', 'durable_job_attempt_progress_check', anAttempt({ progress: -1 })],
  ['the progress of an attempt is not above 100', 'durable_job_attempt_progress_check', anAttempt({ progress: 101 })],

  ['an executor is in a state of the model', 'durable_executor_state_check', anExecutor({ state: 'idle' })],

  ['the cap of a queue is not 0', 'durable_job_queue_cap_check', aQueue({ max_running: 0 })],
  ['the cap of a queue is not below 0', 'durable_job_queue_cap_check', aQueue({ max_running: -1 })],

  [
    'a recurring job holds or requeues what was interrupted',
    'durable_recurring_job_interrupt_check',
    aRecurringJob({ on_interrupt: 'fail' }),
  ],
  [
    'missed occurrences are treated in a way of the model',
    'durable_recurring_job_missed_check',
    aRecurringJob({ missed: 'some' }),
  ],
  [
    'the limit of missed occurrences is not below 1',
    'durable_recurring_job_limit_check',
    aRecurringJob({ missed: 'all', missed_limit: 0 }),
  ],
  [
    'only who wants all missed occurrences limits them',
    'durable_recurring_job_limit_check',
    aRecurringJob({ missed: 'one', missed_limit: 5 }),
  ],
  [
    'overlapping occurrences are treated in a way of the model',
    'durable_recurring_job_overlap_check',
    aRecurringJob({ overlap: 'replace' }),
  ],

  [
    'an idempotency claim is in a state of the model',
    'durable_idempotency_claim_state_check',
    anIdempotencyClaim({ state: 'failed', claim_expires_at: null }),
  ],
  [
    'an idempotency claim in progress expires',
    'durable_idempotency_claim_progress_check',
    anIdempotencyClaim({ claim_expires_at: null }),
  ],
  [
    'a completed idempotency claim does not expire as a claim',
    'durable_idempotency_claim_progress_check',
    aCompletedClaim({ claim_expires_at: 1 }),
  ],
  [
    'a completed idempotency claim expires as a result',
    'durable_idempotency_claim_result_check',
    aCompletedClaim({ result_expires_at: null }),
  ],
  [
    'an idempotency claim in progress is no result',
    'durable_idempotency_claim_result_check',
    anIdempotencyClaim({ result_expires_at: 1 }),
  ],
  [
    'an idempotency claim in progress has no value',
    'durable_idempotency_claim_value_check',
    anIdempotencyClaim({ value: '1' }),
  ],

  [
    'an inbox message is in a state of the model',
    'durable_inbox_message_state_check',
    anInboxMessage({ state: 'new' }),
  ],
  [
    'an inbox message in processing has a token',
    'durable_inbox_message_processing_check',
    anInboxMessage({ state: 'processing', lease_until: 1 }),
  ],
  [
    'an inbox message in processing has a lease',
    'durable_inbox_message_processing_check',
    anInboxMessage({ state: 'processing', token: 'token' }),
  ],

  [
    'an outbox message is in a state of the model',
    'durable_outbox_message_state_check',
    anOutboxMessage({ state: 'new' }),
  ],
  [
    'an outbox message in sending has a token',
    'durable_outbox_message_sending_check',
    anOutboxMessage({ state: 'sending', lease_until: 1 }),
  ],
  [
    'an outbox message in sending has a lease',
    'durable_outbox_message_sending_check',
    anOutboxMessage({ state: 'sending', lock_token: 'token' }),
  ],
];

const accepted: [title: string, table: string, row: Row][] = [
  ...jobStates.map((state): [string, string, Row] => ['a job', 'durable_job', inState(state)]),
  ...attemptStates.map((state): [string, string, Row] => [
    'an attempt',
    'durable_job_attempt',
    state === 'running' ? anAttempt() : anEndedAttempt({ state }),
  ]),
  ...executorStates.map((state): [string, string, Row] => ['an executor', 'durable_executor', anExecutor({ state })]),
  ...inboxStates.map((state): [string, string, Row] => [
    'an inbox message',
    'durable_inbox_message',
    anInboxMessage({ state, token: 'token', lease_until: 1 }),
  ]),
  ...outboxStates.map((state): [string, string, Row] => [
    'an outbox message',
    'durable_outbox_message',
    anOutboxMessage({ state, lock_token: 'token', lease_until: 1 }),
  ]),
  ...missedPolicies.map((missed): [string, string, Row] => [
    'a recurring job',
    'durable_recurring_job',
    aRecurringJob({ missed }),
  ]),
  ...overlapPolicies.map((overlap): [string, string, Row] => [
    'a recurring job',
    'durable_recurring_job',
    aRecurringJob({ overlap }),
  ]),
  ...idempotencyStates.map((state): [string, string, Row] => [
    'an idempotency claim',
    'durable_idempotency_claim',
    state === 'completed' ? aCompletedClaim({ value: '{"id":1}' }) : anIdempotencyClaim(),
  ]),
  ['a completed idempotency claim without a value', 'durable_idempotency_claim', aCompletedClaim()],
  ['a recurring job that requeues', 'durable_recurring_job', aRecurringJob({ on_interrupt: 'requeue' })],
  ['a limit for all missed', 'durable_recurring_job', aRecurringJob({ missed: 'all', missed_limit: 1 })],
  ['a queue without a cap', 'durable_job_queue', aQueue()],
  ['a queue with a cap of 1', 'durable_job_queue', aQueue({ max_running: 1 })],
  ['a paused queue', 'durable_job_queue', aQueue({ paused: true })],
  ['a job at full progress', 'durable_job', aRunningJob({ progress: 100 })],
  ['a job at its last start', 'durable_job', aRunningJob({ attempt_count: 3, attempt_limit: 3 })],
  ['an active job with a unique key', 'durable_job', aJob({ unique_hash: hash })],
  ['a running job with a cancel mark', 'durable_job', aRunningJob({ cancel_requested_at: 1 })],
  ['a succeeded job with a result', 'durable_job', aFinishedJob({ result_ref: 'invoice/1' })],
];

forEachDriver(driver => {
  let orm: TestOrm;
  beforeAll(async () => void (orm = await createOrm(driver, jobEntities)));
  afterAll(() => dropOrm(orm));

  test.each(refused)('%s', async (_, check, row) => {
    const refusal = insert(orm, check.replace(/_[a-z]+_check$/, ''), row);

    await expect(refusal).rejects.toThrow(CheckConstraintViolationException);
    await expect(refusal).rejects.toThrow(new RegExp(`\\b${check}\\b`));
  });

  test.each(accepted)('%s is accepted (%#)', async (_, table, row) => {
    await orm.em.execute(`delete from ${table}`);

    await insert(orm, table, row);

    expect(await orm.em.execute(`select * from ${table}`)).toHaveLength(1);
  });

  test('a unique key is held by one active job at a time', async () => {
    await orm.em.execute('delete from durable_job');
    await insert(orm, 'durable_job', aJob({ id: 'first', unique_hash: hash }));
    const second = aJob({ id: 'second', unique_hash: hash });
    await expect(insert(orm, 'durable_job', second)).rejects.toThrow(/unique/i);

    await orm.em.execute(`update durable_job set state = 'cancelled', finished_at = 1, unique_hash = null`);

    await expect(insert(orm, 'durable_job', second)).resolves.toBeUndefined();
  });

  test('a job is identified by scope and id, an attempt by its ordinal as well', async () => {
    await orm.em.execute('delete from durable_job');
    await orm.em.execute('delete from durable_job_attempt');
    await insert(orm, 'durable_job', aJob());
    await insert(orm, 'durable_job_attempt', anAttempt());

    await insert(orm, 'durable_job', aJob({ scope_hash: hash }));
    await insert(orm, 'durable_job_attempt', anAttempt({ ordinal: 2 }));
    await expect(insert(orm, 'durable_job', aJob())).rejects.toThrow(/unique/i);
    await expect(insert(orm, 'durable_job_attempt', anAttempt())).rejects.toThrow(/unique/i);
  });

  test('a job waits once for each of its parents', async () => {
    await insert(orm, 'durable_job_dependency', aDependency());

    await insert(orm, 'durable_job_dependency', aDependency({ parent_id: 'parent-2' }));
    await insert(orm, 'durable_job_dependency', aDependency({ job_id: 'job-2' }));
    await insert(orm, 'durable_job_dependency', aDependency({ scope_hash: hash }));
    await expect(insert(orm, 'durable_job_dependency', aDependency())).rejects.toThrow(/unique/i);
  });

  test('a queue has one row, a recurring job one in its scope', async () => {
    await orm.em.execute('delete from durable_job_queue');
    await orm.em.execute('delete from durable_recurring_job');
    await insert(orm, 'durable_job_queue', aQueue());
    await insert(orm, 'durable_recurring_job', aRecurringJob());

    await insert(orm, 'durable_job_queue', aQueue({ name: 'Default' }));
    await insert(orm, 'durable_recurring_job', aRecurringJob({ scope_hash: hash }));
    await expect(insert(orm, 'durable_job_queue', aQueue())).rejects.toThrow(/unique/i);
    await expect(insert(orm, 'durable_recurring_job', aRecurringJob())).rejects.toThrow(/unique/i);
  });

  test('ids that differ in case are different ids', async () => {
    await orm.em.execute('delete from durable_job');

    await insert(orm, 'durable_job', aJob({ id: 'Order' }));
    await insert(orm, 'durable_job', aJob({ id: 'order' }));

    expect(await orm.em.execute(`select id from durable_job where id = 'order'`)).toEqual([{ id: 'order' }]);
  });
});

function inState(state: (typeof jobStates)[number]): Row {
  if (state === 'running') return aRunningJob();

  return (finishedStates as readonly string[]).includes(state) ? aFinishedJob({ state }) : aJob({ state });
}
