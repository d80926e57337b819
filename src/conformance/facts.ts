import type { Fact, FactGroup } from './fact.ts';
import { cancelling } from './facts/cancelling.ts';
import { cascades, resolving } from './facts/cascades.ts';
import { claimOrder } from './facts/claim-order.ts';
import { claiming } from './facts/claiming.ts';
import { continuations } from './facts/continuations.ts';
import { identity } from './facts/identity.ts';
import { leases } from './facts/leases.ts';
import { counting, executorsListed, lastStates, lists } from './facts/monitoring.ts';
import { progress, status } from './facts/progress-and-status.ts';
import { caps, pauses } from './facts/queues.ts';
import { capabilities, reads } from './facts/reads.ts';
import { recovering } from './facts/recovering.ts';
import { firing, recurringJobs } from './facts/recurring.ts';
import { releasing } from './facts/releasing.ts';
import { retrying, runningNow } from './facts/retrying.ts';
import { running } from './facts/running.ts';
import { scopes } from './facts/scopes.ts';
import { settling } from './facts/settling.ts';
import { startingByKey } from './facts/starting-by-key.ts';
import { submitting } from './facts/submitting.ts';
import { tokens } from './facts/tokens.ts';
import { uniqueKeys } from './facts/unique-keys.ts';
import { whenToAskAgain } from './facts/when-to-ask-again.ts';

/** All facts by their subject, in the order of a job's life. */
export const factGroups: readonly FactGroup[] = Object.freeze([
  submitting,
  identity,
  uniqueKeys,
  scopes,
  claiming,
  claimOrder,
  whenToAskAgain,
  pauses,
  caps,
  startingByKey,
  progress,
  status,
  settling,
  tokens,
  releasing,
  recovering,
  running,
  leases,
  cancelling,
  retrying,
  runningNow,
  continuations,
  cascades,
  resolving,
  recurringJobs,
  firing,
  lastStates,
  reads,
  lists,
  counting,
  executorsListed,
  capabilities,
]);

/** All facts, in order. */
export const facts: readonly Fact[] = Object.freeze(factGroups.flatMap(({ facts }) => facts));
