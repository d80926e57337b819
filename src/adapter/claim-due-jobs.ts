import { v4 as uuidV4 } from 'uuid';
import type { ClaimAnswer, ClaimRequest } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import { toAttempt } from './job-row.ts';
import type { Row, Session } from './session.ts';
import type { Lane, SqlDialect } from './sql/dialect.ts';
import { look } from './sql/shared/look.ts';
import { countRunning } from './sql/shared/queues.ts';

/** A lane as the look saw it, with what is said of its queue. */
interface SeenLane extends Lane {
  readonly firstDueAt: Micros;
  readonly isPaused: boolean;
  readonly maxRunning: number | null;
  readonly running: number;
}

/**
 * Claims in two steps: a look, which writes nothing and is all that an idle poll sends, then the claim of what it found due.
 * Capped queues are claimed under the lock of their rows; the others pay nothing for that.
 */
export async function claimDueJobs(
  { session, dialect }: { readonly session: Session; readonly dialect: SqlDialect },
  request: ClaimRequest,
  now: Micros,
): Promise<ClaimAnswer> {
  if (request.definitions.length === 0 || request.queues?.length === 0) {
    return { attempts: [], nextDueAt: null, isHeldBack: false };
  }

  const seen = (await session.read(look(session.tables, request))).map(toLane).filter(lane => !lane.isPaused);
  const lanes = seen.filter(hasRoom);
  const isHeldBack = seen.some(lane => !hasRoom(lane) && lane.firstDueAt <= now);
  const due = lanes.filter(lane => lane.firstDueAt <= now);
  if (due.length === 0 || request.limit < 1) {
    return { attempts: [], nextDueAt: due.length > 0 ? now : earliest(lanes), isHeldBack };
  }

  const claim: ClaimIn = (within, part, limit) =>
    claimLanes({ session: within, dialect }, request.executorId, part, limit, now);
  const rows = due.some(isCapped)
    ? await session.atomically(run => claimBelowCaps(within(session, run), dialect, due, request.limit, claim))
    : await claim(session, due, request.limit);
  const attempts = rows.sort(byClaimOrder).map(row => toAttempt(row, now));

  // A lane that gave something may have more, or something later, that the look didn't see: ask again at once. What is due and
  // was not got is held by another caller; it may be given back.
  return { attempts, nextDueAt: attempts.length > 0 ? now : earliest(lanes), isHeldBack };
}

type ClaimIn = (session: Session, lanes: readonly Lane[], limit: number) => Promise<Row[]>;

/** The lock first, the count in a statement after it, then the claims: nobody else counts in between. */
async function claimBelowCaps(
  session: Session,
  dialect: SqlDialect,
  due: readonly SeenLane[],
  limit: number,
  claim: ClaimIn,
): Promise<Row[]> {
  const capped = [...new Set(due.filter(isCapped).map(lane => lane.queue))].sort();
  const settings = await dialect.lockQueues(session.write, session.tables, capped);
  const counts = await session.write(countRunning(session.tables, capped));
  const running = new Map(counts.map(row => [row.name as string, Number(row.running)]));
  const roomOf = new Map(settings.map(row => [row.name as string, roomFor(row, running.get(row.name as string) ?? 0)]));

  const claimed: Row[] = [];
  for (const [queue, lanes] of groupsByUrgency(due)) {
    const room = queue === null ? Infinity : (roomOf.get(queue) ?? Infinity);
    const take = Math.min(limit - claimed.length, room);
    if (take > 0) {
      claimed.push(...(await claim(session, lanes, take)));
    }
  }

  return claimed;
}

async function claimLanes(
  { session, dialect }: { readonly session: Session; readonly dialect: SqlDialect },
  executorId: string,
  lanes: readonly Lane[],
  limit: number,
  now: Micros,
): Promise<Row[]> {
  const tokens = Array.from({ length: limit }, () => uuidV4());
  return dialect.claimJobs(session, { lanes: lanes.map(bareLane), executorId, tokens, now });
}

/** The uncapped lanes together (null), each capped queue by itself; the most urgent first. */
function groupsByUrgency(due: readonly SeenLane[]): Array<[queue: string | null, lanes: SeenLane[]]> {
  const groups = new Map<string | null, SeenLane[]>();
  for (const lane of [...due].sort((a, b) => b.priority - a.priority || a.firstDueAt - b.firstDueAt)) {
    const queue = isCapped(lane) ? lane.queue : null;
    groups.set(queue, [...(groups.get(queue) ?? []), lane]);
  }

  return [...groups];
}

/** The same statements, sent in a transaction that is open already. */
function within({ tables }: Session, run: Session['write']): Session {
  return { tables, read: run, write: run, atomically: work => work(run) };
}

function toLane(row: Row): SeenLane {
  return {
    queue: row.queue as string,
    name: row.name as string,
    version: row.version as string,
    priority: Number(row.priority),
    firstDueAt: Number(row.first_due_at),
    isPaused: Boolean(row.paused),
    maxRunning: row.max_running === null ? null : Number(row.max_running),
    running: Number(row.running),
  };
}

function bareLane({ queue, name, version, priority }: Lane): Lane {
  return { queue, name, version, priority };
}

function isCapped(lane: SeenLane): boolean {
  return lane.maxRunning !== null;
}

function hasRoom({ maxRunning, running }: SeenLane): boolean {
  return maxRunning === null || running < maxRunning;
}

function roomFor(settings: Row, running: number): number {
  if (settings.paused) {
    return 0;
  }

  return settings.max_running === null ? Infinity : Math.max(0, Number(settings.max_running) - running);
}

function earliest(lanes: readonly SeenLane[]): Micros | null {
  return lanes.length === 0 ? null : Math.min(...lanes.map(lane => lane.firstDueAt));
}

/** Highest priority, longest due, oldest: what was claimed together begins in this order. */
function byClaimOrder(a: Row, b: Row): number {
  return (
    Number(b.priority) - Number(a.priority) ||
    Number(a.next_run_at) - Number(b.next_run_at) ||
    Number(a.created_at) - Number(b.created_at)
  );
}
