import type { StageResult } from '../core/snapshot.ts';
import type { JobStore } from '../core/store.ts';
import { hasIdOfItsOwn, type Submission } from '../core/submission.ts';
import { JointSubmits, type JointSubmitsParts } from './joint-submits.ts';
import type { OwnSession } from './own-session.ts';

export interface SubmittingParts extends Omit<JointSubmitsParts, 'session' | 'alone'> {
  readonly session: OwnSession;
  readonly connectionTimeoutMs: number;
  /** Whether submits of one moment may share a statement. */
  readonly isJoint: boolean;
  readonly storeOn: (session: OwnSession) => JobStore;
}

/**
 * Submits on a connection of its own, for which it waits so long and no longer: beside a bare `begin()` on the only
 * connection, which nobody but that fork can see, it would wait for ever.
 */
export class Submitter {
  readonly #parts: SubmittingParts;
  readonly #joint: JointSubmits;

  constructor(parts: SubmittingParts) {
    this.#parts = parts;
    this.#joint = new JointSubmits({
      ...parts,
      session: () => this.#session(),
      alone: async submission => (await this.#together([submission]))[0]!,
    });
  }

  async submit(submissions: readonly Submission[]): Promise<StageResult[]> {
    const [first] = submissions;

    return this.#parts.isJoint && submissions.length === 1 && isNobodyElses(first!)
      ? [await this.#joint.submit(first!)]
      : this.#together(submissions);
  }

  #together(submissions: readonly Submission[]): Promise<StageResult[]> {
    return this.#parts.storeOn(this.#session()).submit(submissions);
  }

  #session(): OwnSession {
    return this.#parts.session.within({ ms: this.#parts.connectionTimeoutMs, operation: 'submit()' });
  }
}

function isNobodyElses(submission: Submission): boolean {
  return hasIdOfItsOwn(submission) && submission.uniqueKey === null && submission.after.length === 0;
}
