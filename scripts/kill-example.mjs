// Kills the example at random moments, over and over, and looks whether every message has its rows and jobs exactly once.
//   npm run example:kill -- [--rounds 100] [--postgres] [--seed 1]
// PostgreSQL is one of its own, or the one that TEST_PG_URL names.
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { killRounds } from '../test/examples/kill-rounds.ts';
import { createPlace } from '../test/examples/place.ts';
import { problemsAfter } from '../test/examples/shop.ts';
import { startPostgres } from '../test/support/postgres.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    postgres: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
});

const server = options.postgres ? await startPostgres() : null;
if (server) process.env.TEST_PG_URL = server.url;
const place = await createPlace(options.postgres ? 'postgresql' : 'sqlite');

try {
  console.log(`seed ${options.seed}`);
  const remains = await killRounds(place, {
    rounds: Number(options.rounds),
    seed: Number(options.seed),
    onKilled: (kills, where) => console.log(`kill ${kills} ${where}`),
    onCompleted: async messages => {
      const ids = new Set(messages.map(({ id }) => id));
      assert.deepEqual(await place.look(orm => problemsAfter(messages, orm.em)), []);
      console.log(`${ids.size} messages, each with its rows and jobs exactly once`);
    },
  });
  console.log(remains);
} finally {
  await place.drop();
  await server?.stop();
}
