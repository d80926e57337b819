import type { RunningFilter } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import { isActive } from './claim-due-jobs.ts';
import type { MemoryDatabase } from './memory-database.ts';
import type { StoredJob } from './stored-job.ts';
