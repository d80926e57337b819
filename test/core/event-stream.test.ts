import { expect, test } from '@jest/globals';
import { EventStream } from '../../src/core/event-stream.ts';
import type { JobsEvent } from '../../src/core/events.ts';
import { Log } from '../executor/support/log.ts';

const staged: JobsEvent = { event: 'job_staged', scope: '', id: 'a', name: 'work', version: '1', queue: 'default', state: 'queued' }; // prettier-ignore
const lost: JobsEvent = { event: 'attempt_lost', scope: '', id: 'a', name: 'work', version: '1', queue: 'default', attempt: 1 }; // prettier-ignore

test('every listener hears every event, at once, until it ends its subscription', () => {
  const stream = new EventStream(new Log());
  const heard: string[] = [];
  const listener = ({ event }: JobsEvent) => void heard.push(event);
  const ends = [stream.subscribe(listener), stream.subscribe(listener)];

  stream.emit(staged);
  expect(heard).toEqual(['job_staged', 'job_staged']);
  ends[0]!();
  ends[0]!();
  stream.emit(staged);
  expect(heard).toHaveLength(3);
  ends[1]!();
  stream.emit(staged);

  expect([heard.length, stream.isHeard]).toEqual([3, false]);
});

test('a listener that throws or rejects disturbs nobody, is called all the same, and is logged once', async () => {
  const log = new Log();
  const stream = new EventStream(log);
  const heard: string[] = [];
  stream.subscribe(() => {
    heard.push('throws');
    throw new Error('x');
  });
  stream.subscribe(async () => {
    heard.push('rejects');
    throw new Error('y');
  });
  stream.subscribe(() => void heard.push('works'));

  stream.emit(staged);
  stream.emit(staged);
  await new Promise(resolve => setImmediate(resolve));

  expect(heard).toEqual(['throws', 'rejects', 'works', 'throws', 'rejects', 'works']);
  expect(log.of('event_listener_failed').map(({ error }) => String(error))).toEqual(['Error: x', 'Error: y']);
});

test('a listener may end its own subscription, and cannot change what others hear', () => {
  const stream = new EventStream(new Log());
  const heard: JobsEvent[] = [];
  const end = stream.subscribe(event => {
    end();
    Object.assign(event, { id: 'changed' });
  });
  stream.subscribe(event => void heard.push(event));

  stream.emit({ ...staged });
  stream.emit({ ...staged });

  expect(heard).toEqual([staged, staged]);
});

test('what an operator should read of is logged under its own name, what happens to every job is not', () => {
  const log = new Log();
  const stream = new EventStream(log);
  const error = new Error('no database');

  stream.emit(staged);
  stream.emit(lost);
  stream.emit({ event: 'loop_failed', loop: 'claim', error });
  stream.emit({ event: 'loop_recovered', loop: 'claim' });

  expect(log.entries).toEqual([
    { level: 'warn', ...lost },
    { level: 'error', event: 'claim_failed', error },
    { level: 'info', event: 'claim_recovered' },
  ]);
});

test('a logger that throws is none of the teller’s business', () => {
  const broken = () => {
    throw new Error('no log');
  };
  const stream = new EventStream({ info: broken, warn: broken, error: broken });
  stream.subscribe(broken);

  expect(() => stream.emit(lost)).not.toThrow();
});

test('what is no function is refused', () => {
  expect(() => new EventStream(new Log()).subscribe({} as never)).toThrow(
    expect.objectContaining({ option: 'listener' }),
  );
});
