import { expect, test } from '@jest/globals';
import { aSubmission, sendMail } from '../../support/builders.ts';
import { forEachDriver } from '../../support/orm.ts';
import { useHost, type Host } from './host.ts';

/** Texts that a driver, a dialect or a formatter of SQL could take for something else. */
const naughty = [
  '',
  ' ',
  '?',
  '??',
  '\\?',
  'a ? b ?? c \\? d',
  ':name @p1 $1 $$ $tag$ %s ${x} #{x} {{x}}',
  `'`,
  `''`,
  `\\'`,
  `\\`,
  `\\\\`,
  `\\\\'; drop table durable_job; --`,
  `E'\\x41'`,
  '"double" `back` [bracket]',
  '/* comment */ -- comment',
  '\t\n\r\v\f\b\u001b\u007f\u0085',
  '\u00a0\u2003\u2028\u2029\ufeff',
  '\u202eright to left\u202c',
  'e\u0301 \u00e9 ﬁ ß İ ı Σ ς',
  '租户 \u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{1f1e6}\u{1f1f9} \u{10ffff}',
  'null undefined true NaN 1e400 0x1F 00',
  '__proto__ constructor toString',
  '<script>alert(1)</script>',
];

forEachDriver(driver => {
  const host = useHost(driver);

  test.each(naughty.map(text => [JSON.stringify(text), text] as const))(
    'the text %s is stored as it is, wherever it stands',
    async (_, text) => {
      const key = text || 'a key is never empty';
      const submission = aSubmission({
        payload: { [text]: [text, { nested: text }] },
        id: 'job-1',
        scope: text,
        queue: key,
        uniqueKey: key,
        metadata: { [text]: text },
      });

      await host.orm.em.fork().transactional(em => host.jobs.stage(em, submission));

      const again = await host.jobs.submit(submission);
      expect(again).toMatchObject({
        matched: 'identity',
        job: { scope: text, queue: key, uniqueKey: key, metadata: { [text]: text } },
      });
      const [{ payload }] = await rows(host);
      expect(payload).toBe(submission.payload);
      expect(JSON.parse(payload)).toEqual({ [text]: [text, { nested: text }] });
      expect((await host.jobs.submit(aSubmission({ scope: text, uniqueKey: key }))).matched).toBe('uniqueKey');
    },
  );

  test('every printable ASCII character may stand in an id', async () => {
    const id = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('');

    await host.jobs.submit(aSubmission({ id }));

    expect(await host.jobs.submit(aSubmission({ id }))).toMatchObject({ matched: 'identity', job: { id } });
    expect(await host.jobs.scope('').get(id)).toMatchObject({ id });
  });

  test('a character that no column can hold survives inside a payload, where JSON escapes it', async () => {
    const value = { lone: '\ud800', nul: '\u0000' };
    const submission = aSubmission({ id: 'job-1', payload: value });

    await host.jobs.submit(submission);

    const [{ payload }] = await rows(host);
    expect(JSON.parse(payload)).toEqual(value);
    expect((await host.jobs.submit(submission)).matched).toBe('identity');
  });

  test.each([
    { title: 'a number beyond 2^53', text: '9007199254740993' },
    { title: 'a number beyond every double', text: '1e400' },
    { title: 'many digits', text: '0.1000000000000000055511151231257827021181583404541015625' },
    { title: 'white space and the order of keys', text: ' {\n"b" : 1,\t"a":2 , "1":3, "0":4}\r\n' },
    { title: 'a key that stands there twice', text: '{"a":1,"a":2}' },
    { title: 'escapes that are not needed', text: '"\\u0041\\/"' },
    { title: 'a minus before zero', text: '-0' },
    { title: 'nothing but null', text: 'null' },
  ])('raw JSON text keeps $title', async ({ text }) => {
    await host.jobs.submit(sendMail.createFromJson(text, { id: 'job-1' }));

    expect((await rows(host))[0]!.payload).toBe(text);
    expect((await host.jobs.submit(sendMail.createFromJson(text, { id: 'job-1' }))).matched).toBe('identity');
  });

  test('the order of keys is that of the object, integer-like ones first, as JavaScript has them', async () => {
    await host.jobs.submit(aSubmission({ payload: { b: 1, a: 2, 10: 3, 9: 4 } }));

    expect((await rows(host))[0]!.payload).toBe('{"9":4,"10":3,"b":1,"a":2}');
  });

  test('the code of a payload runs once, when the submission is made, however often that is sent', async () => {
    let calls = 0;
    const value = {
      get cents() {
        return ++calls;
      },
      nested: { toJSON: () => ++calls },
    };

    const submission = aSubmission({ id: 'job-1', payload: value });
    await host.jobs.submit(submission);
    await host.orm.em.fork().transactional(em => host.jobs.stage(em, [submission, submission]));

    expect(calls).toBe(2);
    expect((await rows(host))[0]!.payload).toBe('{"cents":1,"nested":2}');
  });

  test('what happens to its parts after a submission was made changes nothing', async () => {
    const value = { list: [1] };
    const notBefore = new Date('2031-01-01T00:00:00Z');
    const metadata: Record<string, string> = { a: '1' };
    const submission = aSubmission({ id: 'job-1', payload: value, notBefore, metadata });

    value.list.push(2);
    notBefore.setFullYear(1999);
    submission.notBefore!.setFullYear(1999);
    metadata.a = '2';
    const { job } = await host.jobs.submit(submission);

    expect(Object.isFrozen(submission)).toBe(true);
    expect((await rows(host))[0]!.payload).toBe('{"list":[1]}');
    expect(job).toMatchObject({ notBefore: new Date('2031-01-01T00:00:00Z'), metadata: { a: '1' } });
  });

  test('a batch carries payloads of every size at once', async () => {
    const sizes = [0, 1, 999_998, 3, 500_000];
    const batch = sizes.map((size, index) => aSubmission({ id: `job-${index}`, payload: 'x'.repeat(size) }));

    await host.jobs.submit(batch);

    expect((await rows(host)).map(({ payload }) => payload.length - 2)).toEqual(sizes);
  });

  // Cutting a batch is the same on every database; parsing so much is slow on some.
  if (driver === 'sqlite') {
    test('a batch may be larger than one statement carries', async () => {
      const batch = Array.from({ length: 17 }, (_, index) =>
        aSubmission({ id: `job-${index + 10}`, payload: 'x'.repeat(999_000) }),
      );

      const results = await host.jobs.submit(batch);

      expect(results.map(({ job }) => job.id)).toEqual(batch.map(({ id }) => id));
      expect((await rows(host)).every(({ payload }) => payload.length === 999_002)).toBe(true);
    });
  }
});

async function rows({ orm }: Host): Promise<[{ payload: string }, ...{ payload: string }[]]> {
  return orm.em.fork().execute('select payload from durable_job order by id');
}
