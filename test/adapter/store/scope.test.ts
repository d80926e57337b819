import { expect, test } from '@jest/globals';
import type { JobKey } from '../../../src/core/job-key.ts';
import { aSubmission, useJobs, type TestJobs } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { aDueJob, dueJobs, ended, start, stored } from './given.ts';

/** Scopes that a database might take for one, by case, by normalisation, by trimming. */
const pairs: Array<[pair: string, one: string, other: string]> = [
  ['another scope', 'acme', 'other'],
  ['upper and lower case', 'Owner', 'owner'],
  ['a composed and a decomposed letter', 'Caf\u00e9', 'Cafe\u0301'],
  ['no scope and a space', '', ' '],
  ['a trailing space', 'acme', 'acme '],
  ['a non-breaking space', 'a b', 'a\u00a0b'],
  ['a soft hyphen', 'acme', 'ac\u00adme'],
  ['sharp s and ss', 'stra\u00dfe', 'strasse'],
  ['a letter of another alphabet', 'acme', '\u0430cme'],
];

const keyed: Array<[call: string, ask: (on: TestJobs, key: JobKey) => Promise<unknown>, answer: unknown]> = [
  ['get', ({ store }, key) => store.get(key), null],
  ['attempts', ({ store }, key) => store.attempts(key), []],
  ['tryStart', ({ store }, key) => store.tryStart(key, 'executor-1'), null],
  ['cancel', ({ store }, key) => store.cancel(key, {}), 'not_found'],
  ['retry', ({ store }, key) => store.retry(key, {}), 'not_found'],
  ['runNow', ({ store }, key) => store.runNow(key), 'not_found'],
];

forEachDriver(driver => {
  const on = useJobs(driver);

  test.each(
    keyed.flatMap(([call, ask, answer]) =>
      pairs.map(([pair, one, other]) => ({ call, ask, answer, pair, one, other })),
    ),
  )('$call never crosses the scope: $pair', async ({ ask, answer, one, other }) => {
    const failed = await start(on, await aDueJob(on, { scope: one, id: 'a' }));
    await on.store.settle([ended(failed, 'failed')]);
    await aDueJob(on, { scope: one, id: 'b' });
    const read = async () => [await stored(on, failed), await stored(on, { scope: one, id: 'b' })];
    const before = await read();

    for (const id of ['a', 'b']) expect(await ask(on, { scope: other, id })).toEqual(answer);

    expect(await read()).toEqual(before);
  });

  test.each(pairs)('one id in two scopes is two jobs: %s', async (_, one, other) => {
    await dueJobs(on, [
      aSubmission({ scope: one, id: 'a', payload: 1 }),
      aSubmission({ scope: other, id: 'a', payload: 2 }),
    ]);

    await on.store.cancel({ scope: one, id: 'a' }, {});

    expect(await on.store.get({ scope: one, id: 'a' })).toMatchObject({ scope: one, state: 'cancelled' });
    expect(await start(on, { scope: other, id: 'a' })).toMatchObject({ scope: other, payload: '2' });
  });

  test('the view of one scope sees and changes that scope alone', async () => {
    await dueJobs(on, [aSubmission({ scope: 'acme', id: 'a' }), aSubmission({ scope: 'other', id: 'a' })]);
    const acme = on.jobs.scope('acme');

    expect(await acme.get('a')).toMatchObject({ scope: 'acme' });
    expect(await acme.cancel('a')).toBe('cancelled');
    expect(await on.jobs.scope('other').get('a')).toMatchObject({ state: 'queued' });
    expect(await on.jobs.scope('ACME').get('a')).toBeNull();
  });
});
