/**
 * Facts that hold for every store of `mikro-orm-jobs`, and what examines a store of your own by them, in any test runner.
 * See docs/writing-a-store.md.
 */
export { factGroups, facts } from './facts.ts';
export { fact, group, type Fact, type FactContext, type FactGroup } from './fact.ts';
export { abilities, type Ability, type Handle, type Harness, type Subject } from './harness.ts';
export { ManualClock } from './manual-clock.ts';
export {
  factsOn,
  report,
  runFacts,
  type BoundFact,
  type FactResult,
  type FactsOptions,
  type RunOptions,
} from './run-facts.ts';
export {
  aClaim,
  aFiring,
  anExecutor,
  aRecurringJob,
  aReport,
  aSubmission,
  buildReport,
  failed,
  interrupted,
  keyOf,
  refOf,
  rescheduled,
  sendMail,
  snoozed,
  someSubmissions,
  succeeded,
  theExecutor,
  type RecurringGiven,
  type SubmissionGiven,
} from './builders.ts';
