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

/** All facts for one harness, in order; those that it can't examine say so. */
export function factsOn(harness: Harness, facts: readonly Fact[] = allFacts): BoundFact[] {
  return facts.map(fact => {
    const leftOut = whyLeftOut(fact, harness);

    return Object.freeze({
      title: fact.title,
      leftOut,
      run: () => (leftOut === null ? fact.run(harness) : Promise.reject(new Error(leftOut))),
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

export interface RunOptions {
  /** Only facts whose title contains this text, or matches this pattern. */
  readonly only?: string | RegExp;
}

/** Examines a store without a test runner: one fact after the other, each on a fresh subject. Never rejects for a fact. */
export async function runFacts(harness: Harness, { only = '' }: RunOptions = {}): Promise<FactResult[]> {
  const chosen = factsOn(harness).filter(({ title }) => {
    return typeof only === 'string' ? title.includes(only) : title.search(only) >= 0;
  });
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

function whyLeftOut({ needs }: Fact, { abilities }: Harness): string | null {
  const missing: Ability[] = needs.filter(ability => !abilities.includes(ability));
  return missing.length === 0 ? null : `the harness lacks ${missing.join(' and ')}`;
}

/** What is read of an `AssertionError`, or of whatever was thrown. */
interface Failure {
  readonly message?: string;
  readonly operator?: string;
  readonly actual?: unknown;
  readonly expected?: unknown;
}

function indented(why: unknown): string {
  return textOf(why).replaceAll(/^/gm, '          ');
}

/** With both values also where a message of ours stands in place of them, as it does on older versions of Node. */
function textOf(why: unknown): string {
  const { message = String(why), operator = '', actual, expected } = why as Failure;
  const isComparison = operator.endsWith('trictEqual') && !message.includes('actual') && !message.includes(' !== ');

  return isComparison ? `${message}: expected ${shown(expected)}, got ${shown(actual)}` : message;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
