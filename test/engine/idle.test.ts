import { expect, test } from '@jest/globals';
import { systemClock } from '../../src/core/clock.ts';
import { defineJob } from '../../src/core/definition.ts';
import { resolveExecutorOptions } from '../../src/core/executor-options.ts';
import { jobEntities } from '../../src/entities/index.ts';
import { Jobs } from '../../src/jobs.ts';
import { Log } from '../executor/support/log.ts';
import { createOrm, dropOrm, forEachDriver } from '../support/orm.ts';
import { eventually } from './support/wait.ts';

const step = defineJob<object>()({ name: 'step' });

forEachDriver(driver => {
  test('an executor that idles sends at most one statement in three seconds, with its default intervals', async () => {
    const statements: string[] = [];
    const orm = await createOrm(driver, jobEntities, {
      debug: ['query'],
      logger: message => void statements.push(message),
      colors: false,
    });
    const jobs = new Jobs({ orm, logger: new Log(), clock: systemClock });
    const defaults = resolveExecutorOptions({}, jobs.store.capabilities);
    // All intervals a hundredth of the defaults: the rates are a hundred times as high, and their relations stay.
    const hundredth = (ms: number) => ms / 100;
    const executor = jobs.executor({
      handlers: [jobs.handler(step, () => {})],
      concurrency: 4,
      pollInterval: hundredth(defaults.pollIntervalMs),
      renewEvery: hundredth(defaults.renewEveryMs),
      progressInterval: hundredth(defaults.progressIntervalMs),
      maintenanceInterval: hundredth(defaults.maintenanceIntervalMs),
    });
    await executor.start();
    const kinds = (pattern: RegExp) => statements.filter(text => pattern.test(text)).length;
    await eventually(() => kinds(/with recursive\s+queues/) >= 5);
    statements.length = 0;
    const began = performance.now();

    await eventually(() => kinds(/with recursive\s+queues/) >= 60);

    const simulatedSeconds = ((performance.now() - began) / 1000) * 100;
    const sent = statements.filter(text => !/begin|commit|pragma|savepoint/i.test(text.slice(0, 40)));
    await executor.stop();
    await dropOrm(orm);
    // The loops began before the window and end after it: each may be in it once more than its share.
    expect(sent.length).toBeLessThanOrEqual(simulatedSeconds / 3 + 4);
    expect(sent.length).toBeGreaterThan(60);
  });
});
