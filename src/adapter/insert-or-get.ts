import { InsertRefusedError, JobIdentityConflictError, ParentNotFoundError } from '../core/errors.ts';
import type { CreationClock } from '../core/clock.ts';
import { keyText, type JobKey } from '../core/job-key.ts';
import { refuseCircle } from '../core/refuse-circle.ts';
import { differencesBetween, type RequestFields } from '../core/same-request.ts';
import type { JobSnapshot, StageResult } from '../core/snapshot.ts';
import type { Submission } from '../core/submission.ts';
import { chunksOf, insertsOf } from './inserts.ts';
import { newJobRow, rowKey, snapshotOfNew, toSnapshot, type NewJobRow } from './job-row.ts';
import type { Row, Run } from './session.ts';
import type { JobKeyRow, SqlDialect } from './sql/dialect.ts';
import { deleteDependencies, deleteJobs } from './sql/shared/delete-jobs.ts';
import { insertDependencies, missingParents } from './sql/shared/insert-dependencies.ts';
import { readByIdentity, readByUniqueHash } from './sql/shared/read-jobs.ts';
import type { Tables } from './tables.ts';

/** A holder may end and free its unique key between our insert and our look; then the insert is tried again, so often. */
const maxRounds = 3;

interface Item {
  readonly submission: Submission;
  readonly row: NewJobRow;
  result: StageResult | null;
}

/**
 * Inserts submissions, or gets what holds their identities and unique keys. Answers by position. On a conflict it takes back
 * what it inserted and throws, so that nothing of the batch is left even where the caller goes on with its transaction.
 */
export async function insertOrGet(
  to: { readonly dialect: SqlDialect; readonly tables: Tables; readonly run: Run; readonly recurringId?: string },
  submissions: readonly Submission[],
  clock: CreationClock,
): Promise<StageResult[]> {
  const items = foldEqual(submissions, clock, to.recurringId ?? null);
  refuseCircle(submissions);

  try {
    for (const chunk of insertsOf([...items.values()])) {
      await storeChunk(to, chunk);
    }
    await waitForParents(to, [...items.values()].filter(isCreatedAwaiting), clock);
  } catch (error) {
    await takeBack(to, [...items.values()]);
    throw error;
  }

  return resultsByPosition(submissions, items);
}

type Target = Parameters<typeof insertOrGet>[0];

/** One item for each identity. @throws JobIdentityConflictError where the batch itself has two requests under one */
function foldEqual(
  submissions: readonly Submission[],
  clock: CreationClock,
  recurringId: string | null,
): Map<string, Item> {
  const items = new Map<string, Item>();

  for (const submission of submissions) {
    const first = items.get(keyText(submission));
    if (first === undefined) {
      const times = { now: clock.now(), createdAt: clock.next() };
      items.set(keyText(submission), { submission, row: newJobRow(submission, times, recurringId), result: null });
    } else {
      checkSameRequest(first.submission, submission);
    }
  }

  return items;
}

async function storeChunk(to: Target, chunk: readonly Item[]): Promise<void> {
  for (let round = 1; ; round++) {
    await insert(to, chunk.filter(isPending));
    await getByIdentity(to, chunk.filter(isPending));
    await getByUniqueKey(to, chunk.filter(isPending));

    const refused = chunk.find(isPending);
    if (refused === undefined) {
      return;
    }
    if (round === maxRounds) {
      throw new InsertRefusedError({ scope: refused.submission.scope, id: refused.submission.id });
    }
  }
}

async function insert({ dialect, run, tables }: Target, items: readonly Item[]): Promise<void> {
  const inserted = await dialect.insertJobs(
    run,
    tables,
    items.map(item => item.row),
  );
  const keys = new Set(inserted.map(rowKey));

  for (const item of items.filter(({ row }) => keys.has(rowKey(row)))) {
    item.result = { job: snapshotOfNew(item.row), created: true, matched: 'none' };
  }
}

async function getByIdentity({ run, tables }: Target, items: readonly Item[]): Promise<void> {
  if (items.length === 0) {
    return;
  }

  const stored = (await run(
    readByIdentity(
      tables,
      items.map(({ row }) => [row.scope_hash, row.id]),
    ),
  )) as JobKeyRow[];
  const holders = new Map(stored.map(row => [rowKey(row), row]));

  for (const item of items) {
    const holder = holders.get(rowKey(item.row));
    if (holder !== undefined) {
      const job = toSnapshot(holder);
      checkSameRequest({ ...job, ...requestFieldsOf(holder, job) }, item.submission);
      item.result = { job, created: false, matched: 'identity' };
    }
  }
}

async function getByUniqueKey({ run, tables }: Target, items: readonly Item[]): Promise<void> {
  const hashes = items.map(({ row }) => row.unique_hash).filter(hash => hash !== null);
  if (hashes.length === 0) {
    return;
  }

  const holders = new Map((await run(readByUniqueHash(tables, hashes))).map(row => [row.unique_hash, row]));

  for (const item of items) {
    const holder = holders.get(item.row.unique_hash);
    if (holder !== undefined) {
      item.result = { job: toSnapshot(holder), created: false, matched: 'uniqueKey' };
    }
  }
}

/** Writes what the new jobs wait for, and looks at their parents: in the inserting transaction, after the insert. */
async function waitForParents(
  { dialect, run, tables }: Target,
  children: readonly Item[],
  clock: CreationClock,
): Promise<void> {
  for (const chunk of chunksOf(children)) {
    const dependencies = chunk.flatMap(({ row, submission }) => {
      return submission.after.map(parentId => [row.scope_hash, row.id, parentId] as const);
    });
    const [missing] = await run(missingParents(tables, dependencies));
    if (missing !== undefined) {
      const child = chunk.find(
        ({ row }) => rowKey(row) === rowKey({ scope_hash: missing.scope_hash as string, id: missing.job_id as string }),
      )!;
      throw new ParentNotFoundError(
        { scope: child.submission.scope, id: child.submission.id },
        missing.parent_id as string,
      );
    }

    await run(insertDependencies(tables, dependencies));
  }

  for (const chunk of chunksOf(children)) {
    const keys = chunk.map(({ row }) => [row.scope_hash, row.id] as const);
    const moved = await dialect.resolveJobs(run, tables, { of: 'keys', keys, limit: keys.length }, clock.now());
    await readAgain({ run, tables }, chunk, moved);
  }
}

/** A job that was resolved at once is answered as it is now. */
async function readAgain(
  { run, tables }: Pick<Target, 'run' | 'tables'>,
  items: readonly Item[],
  moved: readonly JobKeyRow[],
): Promise<void> {
  if (moved.length === 0) {
    return;
  }

  const rows = (await run(
    readByIdentity(
      tables,
      moved.map(row => [row.scope_hash, row.id]),
    ),
  )) as JobKeyRow[];
  const jobs = new Map(rows.map(row => [rowKey(row), toSnapshot(row)]));
  for (const item of items) {
    const job = jobs.get(rowKey(item.row));
    item.result = job === undefined ? item.result : { ...item.result!, job };
  }
}

async function takeBack({ run, tables }: Target, items: readonly Item[]): Promise<void> {
  const created = items.filter(({ result }) => result?.created === true);

  try {
    for (const chunk of chunksOf(created)) {
      const keys = chunk.map(({ row }) => [row.scope_hash, row.id] as const);
      await run(deleteDependencies(tables, keys));
      await run(deleteJobs(tables, keys));
    }
  } catch {
    // The database gave the whole transaction up, and what was inserted with it: the first error says why.
  }
}

function resultsByPosition(submissions: readonly Submission[], items: ReadonlyMap<string, Item>): StageResult[] {
  const answered = new Set<Item>();

  return submissions.map(submission => {
    const item = items.get(keyText(submission))!;
    const result = answered.has(item) && item.result!.created ? foldedResult(item.result!) : item.result!;
    answered.add(item);

    return Object.freeze(result);
  });
}

/** For the second of two equal items the first one is what was there. */
function foldedResult({ job }: StageResult): StageResult {
  return { job, created: false, matched: 'identity' };
}

function checkSameRequest(stored: RequestFields & JobKey, submitted: Submission): void {
  const differences = differencesBetween(stored, submitted);
  if (differences.length > 0) {
    throw new JobIdentityConflictError({ scope: submitted.scope, id: submitted.id }, differences);
  }
}

/** As submitted: an operator may have moved it to another queue. */
function requestFieldsOf(row: Row, { queue }: JobSnapshot): Pick<RequestFields, 'payload' | 'queue'> {
  return { payload: row.payload as string, queue: (row.initial_queue as string | null) ?? queue };
}

function isCreatedAwaiting({ result }: Item): boolean {
  return result!.created && result!.job.state === 'awaiting';
}

function isPending(item: Item): boolean {
  return item.result === null;
}
