import type { AttemptRef } from '../core/attempt.ts';
import type { Clock } from '../core/clock.ts';
import type { JobKey } from '../core/job-key.ts';
import { anExecutor, theExecutor } from './builders.ts';
import type { Ability, Handle, Harness, Subject } from './harness.ts';
import type { ManualClock } from './manual-clock.ts';

/** One sentence that is true of every store that deserves the name, and how to find out whether it is. */
export interface Fact {
  readonly title: string;
  /** What a harness must be able to do, for this fact to be examined. */
  readonly needs: readonly Ability[];
  /** Resolves when the fact holds on a fresh subject of the harness; rejects with an `AssertionError` when it doesn't. */
  readonly run: (harness: Harness) => Promise<void>;
}

/** Facts about one subject. */
export interface FactGroup {
  readonly subject: string;
  readonly facts: readonly Fact[];
}

/** What a fact works with. The executor `executor-1` is registered, without a lease. */
export interface FactContext extends Handle {
  readonly clock: ManualClock;
  open(clock?: Clock): Promise<Handle>;
  /** So many handles on the storage: opened ones where the harness has several, else the one that there is. */
  handles(count: number): Promise<Handle[]>;
  deleteAttempt(attempt: AttemptRef): Promise<void>;
  deleteJob(key: JobKey): Promise<void>;
}

type Examine = (on: FactContext) => Promise<void>;

/** A fact as data: `fact('a token is handed out once', async ({ store }) => { … })`. */
export function fact(title: string, examine: Examine): Fact;
export function fact(title: string, requirements: { readonly needs: readonly Ability[] }, examine: Examine): Fact;
export function fact(
  title: string,
  ...rest: [Examine] | [requirements: { readonly needs: readonly Ability[] }, examine: Examine]
): Fact {
  const [{ needs }, examine] = rest.length === 1 ? [{ needs: [] }, rest[0]] : rest;

  return Object.freeze({
    title,
    needs,
    run: async (harness: Harness) => {
      const subject = await harness.create();

      try {
        await subject.store.register(anExecutor({ id: theExecutor }));
        await examine(contextOf(subject, harness));
      } finally {
        await subject.close();
      }
    },
  });
}

/** Facts about one subject; a list of facts stands for each of them. */
export function group(subject: string, facts: ReadonlyArray<Fact | readonly Fact[]>): FactGroup {
  return Object.freeze({ subject, facts: Object.freeze(facts.flat()) });
}

function contextOf(subject: Subject, { abilities }: Harness): FactContext {
  const { store, queues, recurring, idempotency, clock, faults } = subject;
  const hasSeveral = abilities.includes('severalHandles');

  return {
    store,
    queues,
    recurring,
    idempotency,
    clock,
    open: clock => promised('open', subject.open?.(clock)),
    handles: async count => {
      const handles: Handle[] = [subject];
      while (handles.length < count) {
        handles.push(hasSeveral ? await promised('open', subject.open?.()) : subject);
      }

      return handles;
    },
    deleteAttempt: attempt => promised('faults.deleteAttempt', faults?.deleteAttempt?.(attempt)),
    deleteJob: key => promised('faults.deleteJob', faults?.deleteJob?.(key)),
  };
}

function promised<T>(member: string, answer: Promise<T> | undefined): Promise<T> {
  if (answer === undefined) {
    throw new Error(`The harness declares an ability, but its subject has no \`${member}()\`.`);
  }

  return answer;
}
