import { AssertionError } from 'node:assert/strict';
import { inspect } from 'node:util';
import { durationMs, type Duration } from '../core/duration.ts';
import { InvalidOptionError } from '../core/errors.ts';
import type { Fact } from './fact.ts';
import { facts as allFacts } from './facts.ts';
import type { Ability, Harness } from './harness.ts';

/** A fact of the kit, made ready for one harness: hand `title` and `run` to the test function of any runner. */
export interface BoundFact {
  readonly title: string;
  /** Null, or why this fact can't be examined with this harness. */
  readonly leftOut: string | null;
  readonly run: () => Promise<void>;
}

export interface FactsOptions {
  /**
   * How long one fact may take: a store with a call that never resolves fails the fact, which is named, and doesn't stop the
   * others. What it waits for is not ended, nor is its subject closed. Between 1 ms and 24 days. @default '30s'
   */
  readonly timeLimit?: Duration;
}

/**
 * All facts for one harness, in order; those that it can't examine say so.
 *
 * @throws InvalidOptionError when the time limit is none
 */
export function factsOn(
  harness: Harness,
  facts: readonly Fact[] = allFacts,
  { timeLimit = '30s' }: FactsOptions = {},
): BoundFact[] {
  const limitMs = timeLimitMs(timeLimit);

  return facts.map(fact => {
    const leftOut = whyLeftOut(fact, harness);

    return Object.freeze({
      title: fact.title,
      leftOut,
      run: () => (leftOut === null ? inTime(fact, harness, limitMs) : Promise.reject(new Error(leftOut))),
    });
  });
}

export interface FactResult {
  readonly title: string;
  /** `left out`: the harness lacks an ability that it needs; nothing is known of it. */
  readonly outcome: 'holds' | 'fails' | 'left out';
  /** What was thrown, or why it was left out. */
  readonly why: unknown;
}

export interface RunOptions extends FactsOptions {
  /** Only facts whose title contains this text, or matches this pattern. */
  readonly only?: string | RegExp;
}

/**
 * Examines a store without a test runner: one fact after the other, each on a fresh subject. Never rejects for a fact.
 *
 * @throws InvalidOptionError when no fact has a title such as `only` says, or the time limit is none
 */
export async function runFacts(harness: Harness, { only = '', ...options }: RunOptions = {}): Promise<FactResult[]> {
  const chosen = factsOn(harness, allFacts, options).filter(({ title }) => {
    return typeof only === 'string' ? title.includes(only) : title.search(only) >= 0;
  });
  if (chosen.length === 0) {
    throw new InvalidOptionError('only', 'be in the title of a fact', only);
  }

  const results: FactResult[] = [];

  for (const { title, leftOut, run } of chosen) {
    results.push(leftOut === null ? await resultOf(title, run) : { title, outcome: 'left out', why: leftOut });
  }

  return results;
}

/** The results as a text for people: what fails and why, what was left out and why, and the sum. */
export function report({ name }: Harness, results: readonly FactResult[]): string {
  const failed = results.filter(({ outcome }) => outcome === 'fails');
  const leftOut = results.filter(({ outcome }) => outcome === 'left out');
  const held = results.length - failed.length - leftOut.length;

  return [
    ...failed.map(({ title, why }) => `FAILS     ${title}\n${indented(why)}\n`),
    ...leftOut.map(({ title, why }) => `LEFT OUT  ${title} (${String(why)})`),
    `${name}: ${held} of ${results.length} facts hold, ${failed.length} fail, ${leftOut.length} left out`,
  ].join('\n');
}

async function resultOf(title: string, run: () => Promise<void>): Promise<FactResult> {
  try {
    await run();
    return { title, outcome: 'holds', why: null };
  } catch (error) {
    return { title, outcome: 'fails', why: error };
  }
}

function timeLimitMs(timeLimit: Duration): number {
  const ms = durationMs(timeLimit, 'timeLimit');
  // Longer than a timer can wait, it would be over at once.
  if (ms < 1 || ms > 2 ** 31 - 1) {
    throw new InvalidOptionError('timeLimit', 'be between 1 ms and 24 days', timeLimit);
  }

  return ms;
}

/** The timer is what keeps a process alive that waits for nothing but an answer which never comes. */
async function inTime(fact: Fact, harness: Harness, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<never>((_, reject) => {
    const why = `"${fact.title}" has not ended in ${limitMs} ms: a call never resolves, or \`timeLimit\` is too short`;
    timer = setTimeout(() => reject(new AssertionError({ message: why, stackStartFn: inTime })), limitMs);
  });

  try {
    await Promise.race([fact.run(harness), isOver]);
  } finally {
    clearTimeout(timer);
  }
}

function whyLeftOut({ needs }: Fact, { abilities }: Harness): string | null {
  const missing: Ability[] = needs.filter(ability => !abilities.includes(ability));
  return missing.length === 0 ? null : `the harness lacks ${missing.join(' and ')}`;
}

function indented(why: unknown): string {
  return textOf(why).replaceAll(/^(?=.)/gm, '          ');
}

/** What an assertion says, and of anything else that was thrown also where. */
function textOf(why: unknown): string {
  return isAssertionError(why) ? textOfAssertion(why) : inspect(why);
}

/** Which of two plain values was expected is said here; the message of older versions of Node has neither, if it is ours. */
function textOfAssertion({ message, generatedMessage, operator, actual, expected }: AssertionError): string {
  const isComparison = operator === 'strictEqual' || operator === 'deepStrictEqual';
  const isPlain = !isObject(actual) && !isObject(expected);
  if (!isComparison || (!isPlain && message.includes('actual'))) {
    return message;
  }

  const values = `expected ${shown(expected)}, got ${shown(actual)}`;
  return generatedMessage ? values : `${message.split('\n', 1)[0]}: ${values}`;
}

function isAssertionError(why: unknown): why is AssertionError {
  return (why as { code?: unknown } | null | undefined)?.code === 'ERR_ASSERTION';
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
