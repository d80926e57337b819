import { expect, jest, test } from '@jest/globals';
import { aSubmission, sendMail } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { jobIds, sentDuring, useHost } from './host.ts';

forEachDriver(driver => {
  const host = useHost(driver);

  test('submits of one moment are one insert, and each is answered with its own job', async () => {
    const submissions = Array.from({ length: 10 }, () => sendMail.create({}));

    const results: unknown[] = [];
    const sent = await sentDuring(host, async () => {
      results.push(...(await Promise.all(submissions.map(submission => host.jobs.submit(submission)))));
    });

    expect(inserts(sent)).toHaveLength(1);
    expect(results).toMatchObject(submissions.map(({ id }) => ({ created: true, matched: 'none', job: { id } })));
    expect(await jobIds(host)).toEqual(submissions.map(({ id }) => id).sort());
  });

  test('they were created in the order of their calls, whatever was sent beside them', async () => {
    const results = await Promise.all([
      host.jobs.submit(sendMail.create({})),
      host.jobs.submit(aSubmission()),
      host.jobs.submit([sendMail.create({}), sendMail.create({})]),
      host.jobs.submit(sendMail.create({})),
    ]);

    const times = results.flat().map(({ job }) => job.createdAt.getTime());
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  test('the same submission twice in one moment is one job', async () => {
    const submission = sendMail.create({});

    const results = await Promise.all([host.jobs.submit(submission), host.jobs.submit(submission)]);

    expect(results.map(({ created, matched }) => ({ created, matched }))).toEqual([
      { created: true, matched: 'none' },
      { created: false, matched: 'identity' },
    ]);
    expect(await jobIds(host)).toEqual([submission.id]);
  });

  test('a submission that is repeated is answered with the stored job', async () => {
    const submission = sendMail.create({});
    await host.jobs.submit(submission);

    const [repeated, other] = await Promise.all([
      host.jobs.submit(submission),
      host.jobs.submit(sendMail.create({ n: 2 })),
    ]);

    expect(repeated).toMatchObject({ created: false, matched: 'identity', job: { id: submission.id } });
    expect(other).toMatchObject({ created: true });
  });

  test('a submit resolves while a test stops the ticks of Node, as fake timers do', async () => {
    const stopped = jest.spyOn(process, 'nextTick').mockImplementation(() => {});

    await host.jobs.submit(sendMail.create({})).finally(() => stopped.mockRestore());

    expect(await jobIds(host)).toHaveLength(1);
  });

  test('what somebody else may hold goes by itself: a given identity, a unique key', async () => {
    const sent = await sentDuring(host, () =>
      Promise.all([
        host.jobs.submit(sendMail.create({})),
        host.jobs.submit(aSubmission()),
        host.jobs.submit(sendMail.create({}, { uniqueKey: 'k' })),
      ]),
    );

    expect(inserts(sent)).toHaveLength(3);
  });

  test('one that the database refuses takes no other with it', async () => {
    await refuse('poison');

    const results = await Promise.allSettled([
      host.jobs.submit(sendMail.create({ n: 1 })),
      host.jobs.submit(sendMail.create('poison')),
      host.jobs.submit(sendMail.create({ n: 3 })),
    ]);

    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await jobIds(host)).toHaveLength(2);
  });

  function inserts(sent: readonly string[]): string[] {
    return sent.filter(statement => statement.includes('insert into'));
  }

  /** The host's own rule about payloads. */
  async function refuse(text: string): Promise<void> {
    const { em } = host.orm;
    if (driver === 'sqlite') {
      await em.execute(
        `create trigger refusal before insert on durable_job when new.payload like '%${text}%' begin select raise(abort, 'refused'); end`,
      );
    } else {
      await em.execute(
        `create function refusal() returns trigger language plpgsql as $$ begin
           if new.payload like '%${text}%' then raise exception 'refused'; end if;
           return new;
         end $$`,
      );
      await em.execute('create trigger refusal before insert on durable_job for each row execute function refusal()');
    }
  }
});
