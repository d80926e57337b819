import { mergedLanes, type DueLane } from '../core/due-lane.ts';

/** What hints have told since the last claim: lanes in which jobs are due, or only that something may be. */
export class ToldLanes {
  #lanes: DueLane[] = [];
  #mayBeAnywhere = true;

  add(lanes: readonly DueLane[] | undefined): void {
    if (lanes === undefined) {
      this.#mayBeAnywhere = true;
    } else {
      this.#lanes.push(...lanes);
    }
  }

  /** Forgets and returns the lanes; null when a claim has to look for itself. */
  take(): readonly DueLane[] | null {
    const lanes = this.#mayBeAnywhere || this.#lanes.length === 0 ? null : mergedLanes(this.#lanes);
    this.#lanes = [];
    this.#mayBeAnywhere = false;

    return lanes;
  }
}
