import { expect, test } from '@jest/globals';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { Jobs } from '../../src/jobs.ts';
import { testJobs } from '../../src/testing/index.ts';
import { forEachDriver } from '../support/orm.ts';
import { step, useShop } from './shop.ts';

const day = 86_400_000;

forEachDriver(driver => {
  const shop = useShop(driver);

  test('time stands still until it is moved, for all that these jobs store', async () => {
    const { jobs, kit } = shop;
    const start = kit.clock.now;
    const first = await jobs.submit(step.create({ label: 'a' }));
    kit.clock.advance('1d');
    const second = await jobs.submit(step.create({ label: 'b' }));

    expect(first.job.nextRunAt).toEqual(start);
    expect(second.job.nextRunAt).toEqual(new Date(start.getTime() + day));
    expect(kit.clock.now).toEqual(second.job.nextRunAt);
  });

  test('a kit that is made later begins with the time that it is, as do jobs whose clock was restored', async () => {
    const { jobs, kit } = shop;
    const before = Date.now();
    kit.clock.advance('365d');
    const again = testJobs(jobs).clock.now.getTime();
    kit.clock.set(new Date('2040-01-01'));
    kit.clock.restore();
    const { job } = await jobs.submit(step.create({ label: 'a' }, { delay: '1h' }));

    expect(again - before).toBeLessThan(day);
    expect(job.createdAt.getTime() - before).toBeLessThan(day);
    expect(job.notBefore!.getTime() - before).toBeLessThan(day);
  });

  test('other jobs on the same ORM keep their time', async () => {
    const others = new Jobs({ orm: shop.orm, logger: shop.log, notifications: false });
    shop.kit.clock.advance('365d');

    const { job } = await others.submit(step.create({ label: 'a' }));

    expect(shop.kit.clock.now.getTime() - job.createdAt.getTime()).toBeGreaterThan(300 * day);
  });

  test('the clock of the host is what a kit begins with', () => {
    const micros = Date.UTC(2031, 0, 1) * 1000;
    const jobs = new Jobs({ orm: shop.orm, clock: { now: () => micros }, notifications: false });

    expect(testJobs(jobs).clock.now).toEqual(new Date('2031-01-01'));
  });

  test.each([
    ['advance', '-1s'],
    ['advance', '1 day'],
    ['advance', '99999d'],
    ['set', new Date(NaN)],
    ['set', new Date('1969-12-31')],
    ['set', new Date('2256-01-01')],
    ['set', '2030-01-01'],
  ])('%s(%s) is refused and moves nothing', (method, value) => {
    const { clock } = shop.kit;
    clock.set(new Date('2200-01-01'));

    expect(() => clock[method as 'set'](value as never)).toThrow(InvalidOptionError);
    expect(clock.now).toEqual(new Date('2200-01-01'));
  });

  test('a kit is made of jobs, and of nothing else', () => {
    expect(() => testJobs(shop.orm as never)).toThrow(InvalidOptionError);
    expect(() => testJobs(undefined as never)).toThrow(InvalidOptionError);
  });
});
