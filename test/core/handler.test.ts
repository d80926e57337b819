import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { InvalidOptionError } from '../../src/core/errors.ts';
import { registerHandler } from '../../src/core/handler.ts';
import { sendMail } from './builders.ts';

const handle = () => 'mail-1';

test('a registered handler is its definition and what runs, and is frozen', () => {
  const registered = registerHandler(sendMail, handle);

  expect(registered).toEqual({ definition: sendMail, run: handle });
  expect(Object.isFrozen(registered)).toBe(true);
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a name', 'mail.send'],
  ['the options of a definition', { name: 'mail.send' }],
  ['a schema', z.string()],
  ['a submission', sendMail.create({})],
])('%s is no definition', (_, definition) => {
  expect(() => registerHandler(definition as typeof sendMail, handle)).toThrow(InvalidOptionError);
  expect(() => registerHandler(definition as typeof sendMail, handle)).toThrow('expected `definition` to be made by');
});

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['an object with a handle method', { handle }],
])('%s is no handler, and the error says of which job', (_, run) => {
  expect(() => registerHandler(sendMail, run as typeof handle)).toThrow(InvalidOptionError);
  expect(() => registerHandler(sendMail, run as typeof handle)).toThrow(
    'expected `handler of mail.send` to be a function',
  );
});
