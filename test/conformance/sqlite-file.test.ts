import { describe } from '@jest/globals';
import { everyFactHolds } from './every-fact-holds.ts';
import { mikroOrmHarness } from './mikro-orm-harness.ts';

describe('on a SQLite file that several connections share', () => {
  everyFactHolds(() => mikroOrmHarness('sqlite', { file: true }));
});
