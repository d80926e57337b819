import type { NewJobRow } from './job-row.ts';

/** How many jobs, and how many characters of payload, one statement carries. */
const maxRows = 1000;
const maxCharacters = 16_000_000;

interface Item {
  readonly row: NewJobRow;
}

/**
 * A batch as the statements that insert it. Each unique key stands once in a statement, so that the first job of the batch which
 * asks for it gets it; and the statements follow each other in the order in which each of them inserts, or two batches in
 * opposite orders would deadlock.
 */
export function* insertsOf<I extends Item>(items: readonly I[]): Generator<I[]> {
  for (const layer of layersOf(items)) {
    yield* chunksOf(layer.sort(byLockOrder));
  }
}

/** As many items as one statement should carry. */
export function* chunksOf<I extends Item>(items: readonly I[]): Generator<I[]> {
  let chunk: I[] = [];
  let characters = 0;

  for (const item of items) {
    const { length } = item.row.payload;
    if (chunk.length === maxRows || (chunk.length > 0 && characters + length > maxCharacters)) {
      yield chunk;
      chunk = [];
      characters = 0;
    }
    chunk.push(item);
    characters += length;
  }

  if (chunk.length > 0) {
    yield chunk;
  }
}

/** The first item of every key, the second one of every key, and so on. */
function layersOf<I extends Item>(items: readonly I[]): I[][] {
  const depths = new Map<string, number>();
  const layers: I[][] = [];

  for (const item of items) {
    const { unique_hash: hash } = item.row;
    const depth = hash === null ? 0 : (depths.get(hash) ?? 0);
    if (hash !== null) {
      depths.set(hash, depth + 1);
    }
    (layers[depth] ??= []).push(item);
  }

  return layers;
}

function byLockOrder({ row: a }: Item, { row: b }: Item): number {
  return (
    compare(a.unique_hash ?? '', b.unique_hash ?? '') || compare(a.scope_hash, b.scope_hash) || compare(a.id, b.id)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
