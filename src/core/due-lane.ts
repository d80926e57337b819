import type { JobSnapshot } from './snapshot.ts';

/** Jobs that became due together: of one queue, definition and priority. */
export interface DueLane {
  readonly queue: string;
  readonly name: string;
  readonly version: string;
  readonly priority: number;
  /** How many of them. */
  readonly count: number;
}

/** The lanes of new jobs; undefined when some of them are due later, so that only a look can tell when. */
export function dueLanesOf(
  jobs: ReadonlyArray<Pick<JobSnapshot, (keyof DueLane & keyof JobSnapshot) | 'state' | 'notBefore'>>,
): DueLane[] | undefined {
  const queued = jobs.filter(({ state }) => state === 'queued');
  if (queued.some(({ notBefore }) => notBefore !== null)) {
    return undefined;
  }

  return mergedLanes(
    queued.map(({ queue, name, version, priority }) => ({ queue, name, version, priority, count: 1 })),
  );
}

/** Each lane once, with all its jobs. */
export function mergedLanes(lanes: readonly DueLane[]): DueLane[] {
  if (lanes.length < 2) {
    return [...lanes];
  }

  const merged = new Map<string, DueLane>();

  for (const lane of lanes) {
    const key = JSON.stringify([lane.queue, lane.name, lane.version, lane.priority]);
    merged.set(key, { ...lane, count: lane.count + (merged.get(key)?.count ?? 0) });
  }

  return [...merged.values()];
}
