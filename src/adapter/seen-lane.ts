import type { Micros } from '../core/time.ts';
import type { Row } from './session.ts';
import type { Lane } from './sql/dialect.ts';

/** A lane with due or coming jobs, as the look found it. */
export interface SeenLane extends Lane {
  readonly firstDueAt: Micros;
}

export function toLane(row: Row): SeenLane {
  return {
    queue: row.queue as string,
    name: row.name as string,
    version: row.version as string,
    priority: Number(row.priority),
    firstDueAt: Number(row.first_due_at),
  };
}

export function bareLane({ queue, name, version, priority }: SeenLane): Lane {
  return { queue, name, version, priority };
}

export function earliest(lanes: readonly SeenLane[]): Micros | null {
  return lanes.length === 0 ? null : Math.min(...lanes.map(lane => lane.firstDueAt));
}
