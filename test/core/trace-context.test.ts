import { expect, test } from '@jest/globals';
import { defineJob } from '../../src/core/definition.ts';
import { hasIdOfItsOwn } from '../../src/core/submission.ts';
import { traceContextOf, type TraceContext } from '../../src/core/trace-context.ts';
import { Tracing } from '../../src/core/tracing.ts';
import { Log } from '../executor/support/log.ts';

const traceParent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const other = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
const work = defineJob<object>()({ name: 'work' });

test.each<[string, unknown, TraceContext | null]>([
  ['a parent alone', { traceParent }, { traceParent }],
  ['a parent with a state', { traceParent, traceState: 'a=1,b@c=2' }, { traceParent, traceState: 'a=1,b@c=2' }],
  ['what else is in it is not kept', { traceParent, baggage: 'x' }, { traceParent }],
  ['a version to come', { traceParent: `cc${traceParent.slice(2)}-more` }, { traceParent: `cc${traceParent.slice(2)}-more` }],
  ['version 00 with more at its end', { traceParent: `${traceParent}-more` }, null],
  ['version ff', { traceParent: `ff${traceParent.slice(2)}` }, null],
  ['a trace id of zeros', { traceParent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }, null],
  ['a parent id of zeros', { traceParent: `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01` }, null],
  ['upper case', { traceParent: traceParent.toUpperCase() }, null],
  ['a parent longer than its column', { traceParent: `cc${traceParent.slice(2)}-${'x'.repeat(80)}` }, null],
  ['a parent that is no text', { traceParent: 5 }, null],
  ['a state that is no text', { traceParent, traceState: 5 }, { traceParent }],
  ['an empty state', { traceParent, traceState: '' }, { traceParent }],
  ['a state with a line break', { traceParent, traceState: 'a=1\n' }, { traceParent }],
  ['a state longer than its column', { traceParent, traceState: 'a'.repeat(513) }, { traceParent }],
  ['nothing', undefined, null],
  ['null', null, null],
  ['a text', traceParent, null],
])('a trace context is read leniently: %s', (_, value, expected) => {
  expect(traceContextOf(value)).toEqual(expected);
}); // prettier-ignore

test('a submission has the trace that it was made with, and one that is none costs nothing', () => {
  expect(work.create({}, { trace: { traceParent } }).trace).toEqual({ traceParent });
  expect(work.create({}, { trace: { traceParent: 'broken' } }).trace).toBeNull();
  expect(work.create({}, { trace: null }).trace).toBeNull();
  expect(work.create({}).trace).toBeNull();
});

test('the hook gives a trace to what has none, asked once a call, and changes nothing else', () => {
  let calls = 0;
  const tracing = new Tracing(() => (calls++, { traceParent: other }), new Log());
  const own = work.create({}, { trace: { traceParent } });
  const none = work.create({ a: 1 }, { notBefore: new Date(5) });

  const [first, second] = tracing.applied([own, none]);
  tracing.applied([own]);

  expect([first, calls]).toEqual([own, 1]);
  expect({ ...second }).toEqual({ ...none, trace: { traceParent: other } });
  expect(hasIdOfItsOwn(second!)).toBe(true);
  expect(second!.notBefore).not.toBe(second!.notBefore);
  expect(Object.isFrozen(second)).toBe(true);
  expect(none.trace).toBeNull();
});

test('a hook that throws, or answers nonsense, costs no job, and is logged once', () => {
  const log = new Log();
  const throwing = new Tracing(() => {
    throw new Error('no tracer');
  }, log);
  const submission = work.create({});

  expect(throwing.applied([submission])).toEqual([submission]);
  throwing.applied([submission]);
  expect(log.of('trace_failed')).toHaveLength(1);
  expect(new Tracing(() => ({ traceParent: 'x' }), log).applied([submission])).toEqual([submission]);
  expect(() => new Tracing('x' as never, log)).toThrow(expect.objectContaining({ option: 'trace' }));
});
