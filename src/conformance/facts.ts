import type { Fact, FactGroup } from './fact.ts';
import { cancelling } from './facts/cancelling.ts';
import { caps } from './facts/caps.ts';
import { cascades } from './facts/cascades.ts';
import { claimOrder } from './facts/claim-order.ts';
import { claiming } from './facts/claiming.ts';
import { claimsInARow } from './facts/claims-in-a-row.ts';
import { continuations } from './facts/continuations.ts';
import { counting } from './facts/counts.ts';
import { executorsListed } from './facts/executors.ts';
import { firing } from './facts/firing.ts';
import { forgettingExecutors } from './facts/forgetting-executors.ts';
import { capabilities } from './facts/hints.ts';
import { idempotentKeys } from './facts/idempotent-keys.ts';
import { idempotentResults } from './facts/idempotent-results.ts';
import { identity } from './facts/identity.ts';
import { lastStates } from './facts/last-states.ts';
import { leases } from './facts/leases.ts';
import { lists } from './facts/lists.ts';
import { parentsAtOnce } from './facts/parents-at-once.ts';
import { pauses } from './facts/pauses.ts';
import { progress } from './facts/progress.ts';
import { pruning } from './facts/pruning.ts';
import { purging } from './facts/purging.ts';
import { reads } from './facts/reads.ts';
import { recovering } from './facts/recovering.ts';
import { recurringJobs } from './facts/recurring-jobs.ts';
import { releasing } from './facts/releasing.ts';
import { resolving } from './facts/resolving.ts';
import { resurrecting } from './facts/resurrecting.ts';
import { retrying } from './facts/retrying.ts';
import { runningNow } from './facts/running-now.ts';
import { running } from './facts/running.ts';
import { scopes } from './facts/scopes.ts';
import { settlingAgain } from './facts/settling-again.ts';
import { settlingAlone } from './facts/settling-alone.ts';
import { settlingGroups, settlingAtOnce } from './facts/settling-groups.ts';
import { settling } from './facts/settling.ts';
import { severalParents } from './facts/several-parents.ts';
import { startingByKey } from './facts/starting-by-key.ts';
import { starting } from './facts/starting.ts';
import { status } from './facts/status.ts';
import { submitting } from './facts/submitting.ts';
import { tokens } from './facts/tokens.ts';
import { toldClaims } from './facts/told-claims.ts';
import { uniqueKeys } from './facts/unique-keys.ts';
import { waitingAgain } from './facts/waiting-again.ts';
import { whenToAskAgain } from './facts/when-to-ask-again.ts';

/** All facts by their subject, in the order of a job's life. */
export const factGroups: readonly FactGroup[] = Object.freeze([
  submitting,
  identity,
  uniqueKeys,
  scopes,
  starting,
  claiming,
  claimOrder,
  claimsInARow,
  toldClaims,
  whenToAskAgain,
  pauses,
  caps,
  startingByKey,
  progress,
  status,
  settling,
  settlingAgain,
  settlingGroups,
  settlingAlone,
  settlingAtOnce,
  tokens,
  releasing,
  recovering,
  running,
  leases,
  cancelling,
  retrying,
  resurrecting,
  runningNow,
  continuations,
  severalParents,
  waitingAgain,
  parentsAtOnce,
  cascades,
  resolving,
  pruning,
  purging,
  forgettingExecutors,
  idempotentKeys,
  idempotentResults,
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
