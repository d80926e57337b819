import type { Attempt } from '../core/attempt.ts';
import type { DueLane } from '../core/due-lane.ts';
import type { ClaimAnswer, ClaimRequest } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import { isUniqueViolation } from './database-errors.ts';
import { byClaimOrder, toAttempt } from './job-row.ts';
import { bareLane, earliest, groupsByUrgency, hasRoom, toLane, type SeenLane } from './seen-lane.ts';
import type { Row, Session } from './session.ts';
import type { Lane, LanePlace, SqlDialect, Start } from './sql/dialect.ts';
import { deleteLeftoverAttempts } from './sql/shared/delete-leftover-attempts.ts';
import { look } from './sql/shared/look.ts';
import { cappedQueueOf, countRunning } from './sql/shared/queues.ts';
import { prepared, type Statement } from './sql/statement.ts';

/** Lanes that gave as much as was asked for, and how long they may be claimed from without another look. */
interface KnownLanes {
  readonly lanes: readonly SeenLane[];
  /** The last that was claimed, where there is one lane. */
  from: LanePlace | null;
  readonly isHeldBack: boolean;
  readonly since: Micros;
}

interface Claimed {
  readonly attempts: Attempt[];
  /** Where the last of them stood, if all are of one lane. */
  readonly last: LanePlace | null;
}

const nothing: Claimed = { attempts: [], last: null };
const knownForMicros: Micros = 50_000;

/**
 * Claims in two steps: a look, which writes nothing and is all that an idle poll sends, then the claim of what it found due.
 * While claims come back full the next ones reuse the lanes, for 50 ms, each from where the last one ended. Capped queues are
 * claimed under the lock of their rows; the others pay nothing for that.
 */
export class DueJobs {
  readonly #session: Session;
  readonly #dialect: SqlDialect;
  readonly #belowCaps: Set<string>;
  readonly #known = new Map<string, KnownLanes>();

  /** @param belowCaps gets the tokens of what was started below a cap */
  constructor(session: Session, dialect: SqlDialect, belowCaps: Set<string>) {
    this.#session = session;
    this.#dialect = dialect;
    this.#belowCaps = belowCaps;
  }

  async claim(request: ClaimRequest, now: Micros): Promise<ClaimAnswer> {
    if (request.definitions.length === 0 || request.queues?.length === 0) {
      return { attempts: [], nextDueAt: null, isHeldBack: false };
    }

    return this.#pastLeftovers(
      () => this.#claim(request, now),
      () => deleteLeftoverAttempts(this.#session.tables, request, now),
    );
  }

  /** An executor that claims no more. */
  forget(executorId: string): void {
    this.#known.delete(executorId);
  }

  /** One job by its key; below a cap only under the lock of its queue, like a claim. */
  async start(job: Omit<Start, 'lockedQueue'>): Promise<Attempt | null> {
    const row = await this.#pastLeftovers(
      () => this.#start(job),
      () => deleteLeftoverAttempts(this.#session.tables, [job.scopeHash, job.id], job.now),
    );

    return row === undefined ? null : toAttempt(row, job.now);
  }

  async #start(job: Omit<Start, 'lockedQueue'>): Promise<Row | undefined> {
    const row = await this.#dialect.startJob(this.#session, { ...job, lockedQueue: null });
    if (row !== undefined) {
      return row;
    }

    const [capped] = await this.#session.read(cappedQueueOf(this.#session.tables, job.scopeHash, job.id));
    return capped === undefined
      ? undefined
      : this.#session.atomically(run => this.#startBelowCap(within(this.#session, run), job, capped.name as string));
  }

  async #startBelowCap(session: Session, job: Omit<Start, 'lockedQueue'>, queue: string): Promise<Row | undefined> {
    const room = (await this.#roomsBelowCaps(session, [queue])).get(queue) ?? Infinity;
    const row = room > 0 ? await this.#dialect.startJob(session, { ...job, lockedQueue: queue }) : undefined;
    if (row !== undefined) {
      this.#belowCaps.add(job.token);
    }

    return row;
  }

  /** What a job that was deleted by hand left behind would stop every claim that meets its successor. */
  async #pastLeftovers<T>(start: () => Promise<T>, leftovers: () => Statement): Promise<T> {
    try {
      return await start();
    } catch (error) {
      if (!isUniqueViolation(error)) {
        throw error;
      }
    }

    await this.#session.write(leftovers());
    return start();
  }

  async #claim(request: ClaimRequest, now: Micros): Promise<ClaimAnswer> {
    if (request.lanes !== undefined) {
      return this.#claimTold(request, request.lanes, now);
    }

    const known = this.#known.get(request.executorId);
    if (known !== undefined && isFresh(known, now) && known.lanes.every(isAskedBy(request)) && request.limit > 0) {
      const { attempts, last } = await this.#claimLanes(request, known.lanes, now, known);
      if (attempts.length === request.limit) {
        known.from = last;
        return { attempts, nextDueAt: now, isHeldBack: known.isHeldBack };
      }
      this.#known.delete(request.executorId);
      return attempts.length > 0
        ? { attempts, nextDueAt: now, isHeldBack: known.isHeldBack }
        : this.#claim(request, now);
    }

    return this.#lookAndClaim(request, now);
  }

  /** Without a look. A queue that is capped gives nothing here. */
  async #claimTold(request: ClaimRequest, told: readonly DueLane[], now: Micros): Promise<ClaimAnswer> {
    const lanes = told.map(lane => ({ ...lane, isCapped: false }));
    const { attempts } = lanes.length > 0 && request.limit > 0 ? await this.#claimLanes(request, lanes, now) : nothing;

    return { attempts, nextDueAt: attempts.length > 0 ? now : null, isHeldBack: false };
  }

  async #lookAndClaim(request: ClaimRequest, now: Micros): Promise<ClaimAnswer> {
    const { executorId, limit } = request;
    const statement = look(this.#session.tables, request);
    // While it drains. An idle executor sends it every few seconds, and its plan would cost it a statement more each time.
    const isBusy = this.#known.has(executorId);
    const seen = (await this.#session.read(isBusy ? prepared(statement) : statement))
      .map(toLane)
      .filter(lane => !lane.isPaused);
    const lanes = seen.filter(hasRoom);
    const isHeldBack = seen.some(lane => !hasRoom(lane) && lane.firstDueAt <= now);
    const due = lanes.filter(lane => lane.firstDueAt <= now);
    if (due.length === 0 || limit < 1) {
      return { attempts: [], nextDueAt: due.length > 0 ? now : earliest(lanes), isHeldBack };
    }

    const { attempts, last } = due.some(lane => lane.isCapped)
      ? await this.#session.atomically(run => this.#claimBelowCaps(within(this.#session, run), request, due, now))
      : await this.#claimLanes(request, due, now);

    if (attempts.length === limit && !due.some(lane => lane.isCapped)) {
      this.#known.set(executorId, { lanes: due, from: last, isHeldBack, since: now });
    } else {
      this.#known.delete(executorId);
    }

    // A lane that gave something may have more, or something later, that the look didn't see: ask again at once. What is due and
    // was not got is held by another caller; it may be given back.
    return { attempts, nextDueAt: attempts.length > 0 ? now : earliest(lanes), isHeldBack };
  }

  /** Nobody else counts between this count and the end of the transaction. */
  async #claimBelowCaps(
    session: Session,
    request: ClaimRequest,
    due: readonly SeenLane[],
    now: Micros,
  ): Promise<Claimed> {
    const capped = [...new Set(due.filter(lane => lane.isCapped).map(lane => lane.queue))].sort();
    const roomOf = await this.#roomsBelowCaps(session, capped);

    const claimed: Attempt[] = [];
    for (const { queue, lanes } of groupsByUrgency(due)) {
      const room = queue === null ? Infinity : (roomOf.get(queue) ?? Infinity);
      const limit = Math.min(request.limit - claimed.length, room);
      if (limit > 0) {
        const { attempts } = await this.#claimLanes({ ...request, limit }, lanes, now, { session });
        claimed.push(...attempts);
        if (queue !== null) {
          roomOf.set(queue, room - attempts.length);
          attempts.forEach(({ token }) => this.#belowCaps.add(token));
        }
      }
    }

    return { attempts: claimed, last: null };
  }

  /** The lock first, the count in a statement after it. */
  async #roomsBelowCaps(session: Session, queues: readonly string[]): Promise<Map<string, number>> {
    const settings = await this.#dialect.lockQueues(session.write, session.tables, queues);
    const counts = await session.write(countRunning(session.tables, queues));
    const running = new Map(counts.map(row => [row.name as string, Number(row.running)]));

    return new Map(settings.map(row => [row.name as string, roomFor(row, running.get(row.name as string) ?? 0)]));
  }

  async #claimLanes(
    { executorId, limit }: ClaimRequest,
    lanes: readonly Lane[],
    now: Micros,
    { session = this.#session, from = null }: { readonly session?: Session; readonly from?: LanePlace | null } = {},
  ): Promise<Claimed> {
    const claim = { lanes: lanes.map(bareLane), from, executorId, limit, now };
    const rows = (await this.#dialect.claimJobs(session, claim)).sort(byClaimOrder);

    return { attempts: rows.map(row => toAttempt(row, now)), last: lanes.length === 1 ? placeOf(rows.at(-1)) : null };
  }
}

/** Not after the clock was set back, or all else would wait until it is again what it was. */
function isFresh({ since }: KnownLanes, now: Micros): boolean {
  return now >= since && now < since + knownForMicros;
}

/** An executor asks for the same each time; whoever asks for something else is not given what was known for that. */
function isAskedBy({ definitions, queues }: ClaimRequest): (lane: Lane) => boolean {
  return ({ queue, name, version }) =>
    (queues === null || queues.includes(queue)) &&
    definitions.some(definition => definition.name === name && definition.version === version);
}

function placeOf(row: Row | undefined): LanePlace | null {
  return row === undefined ? null : { nextRunAt: Number(row.next_run_at), createdAt: Number(row.created_at) };
}

/** The same statements, sent in a transaction that is open already. */
function within(session: Session, run: Session['write']): Session {
  return {
    tables: session.tables,
    read: run,
    write: run,
    atomically: work => work(run),
    inTransaction: em => session.inTransaction(em),
  };
}

function roomFor(settings: Row, running: number): number {
  if (settings.paused) {
    return 0;
  }

  return settings.max_running === null ? Infinity : Math.max(0, Number(settings.max_running) - running);
}
