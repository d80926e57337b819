import { describe } from '@jest/globals';
import { everyFactHolds } from './every-fact-holds.ts';
import { memoryHarness } from './memory-harness.ts';

describe('in memory', () => everyFactHolds(memoryHarness));
