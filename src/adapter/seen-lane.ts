import type { Micros } from '../core/time.ts';
import type { Row } from './session.ts';
import type { Lane } from './sql/dialect.ts';

/** A lane with due or coming jobs, as the look found it, and what is said of its queue. */
export interface SeenLane extends Lane {
  readonly firstDueAt: Micros;
  readonly isPaused: boolean;
  readonly maxRunning: number | null;
  /** What its queue runs; counted only under a cap. */
  readonly running: number;
}

export function toLane(row: Row): SeenLane {
  return {
    queue: row.queue as string,
    name: row.name as string,
    version: row.version as string,
    priority: Number(row.priority),
    firstDueAt: Number(row.first_due_at),
    isPaused: Boolean(row.paused),
    isCapped: row.max_running !== null,
    maxRunning: row.max_running === null ? null : Number(row.max_running),
    running: Number(row.running),
  };
}

export function bareLane({ queue, name, version, priority, isCapped }: Lane): Lane {
  return { queue, name, version, priority, isCapped };
}

export function hasRoom({ maxRunning, running }: SeenLane): boolean {
  return maxRunning === null || running < maxRunning;
}

export function earliest(lanes: readonly SeenLane[]): Micros | null {
  return lanes.length === 0 ? null : Math.min(...lanes.map(lane => lane.firstDueAt));
}

/** Lanes that are claimed from together; the queue is null where they have no cap. */
export interface LaneGroup {
  readonly queue: string | null;
  readonly lanes: readonly SeenLane[];
}

/** The uncapped lanes of one priority together, and of each capped queue; the most urgent first, whatever is capped. */
export function groupsByUrgency(due: readonly SeenLane[]): LaneGroup[] {
  const groups = new Map<string, LaneGroup>();
  for (const lane of [...due].sort((a, b) => b.priority - a.priority || a.firstDueAt - b.firstDueAt)) {
    const queue = lane.isCapped ? lane.queue : null;
    const key = JSON.stringify([lane.priority, queue]);
    groups.set(key, { queue, lanes: [...(groups.get(key)?.lanes ?? []), lane] });
  }

  return [...groups.values()];
}
