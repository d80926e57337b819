import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fs from 'node:fs';
import { spawnNode } from '../support/child.ts';
import { forEachDriver } from '../support/orm.ts';
import { killRounds, program } from './kill-rounds.ts';
import { createPlace, type Place } from './place.ts';
import { messagesWith, problemsAfter } from './shop.ts';

const expectedOutput = fs.readFileSync(
  new URL('../../examples/outbox-handler/expected-output.txt', import.meta.url),
  'utf8',
);
const kills = Number(process.env.EXAMPLE_KILLS ?? 8);
const seed = Number(process.env.EXAMPLE_SEED ?? Math.floor(Math.random() * 2 ** 32));

forEachDriver(driver => {
  describe('the example', () => {
    let place: Place;

    beforeAll(async () => {
      place = await createPlace(driver);
    });
    afterAll(() => place.drop());

    test('writes what its page says', async () => {
      expect(await outputOf(place.args)).toBe(expectedOutput);
    });

    test('has handled each message once', async () => {
      expect(await place.look(orm => problemsAfter(messagesWith(), orm.em))).toEqual([]);
    });

    test('changes nothing when all messages are delivered again', async () => {
      expect(await outputOf(place.args)).toBe(expectedOutput);
    });

    test('begins anew with --fresh', async () => {
      const child = spawnNode(program, [...place.args, '--fresh']);

      expect(await child.exited).toEqual({ code: 0, signal: null });
      expect(child.stderr()).toContain('m-1 order.placed: processed → ack');
      expect(child.stdout()).toBe(expectedOutput);
    });
  });

  test(
    `the example loses nothing and does nothing twice, killed ${kills} times (seed ${seed})`,
    async () => {
      const place = await createPlace(driver);

      try {
        const remains = await killRounds(place, {
          rounds: kills,
          seed,
          onCompleted: async messages => {
            expect(await place.look(orm => problemsAfter(messages, orm.em))).toEqual([]);
          },
        });

        expect(remains.kills).toBe(kills);
      } finally {
        await place.drop();
      }
    },
    60_000 + kills * 10_000,
  );
});

async function outputOf(args: readonly string[]): Promise<string> {
  const child = spawnNode(program, args);
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`the example ended with ${code}\n${child.stderr()}`);

  return child.stdout();
}
