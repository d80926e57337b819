import { median } from '../measure/numbers.mjs';
import { targets } from '../targets.mjs';
import { format, table } from './table.mjs';

/** Ours beside theirs, pair by pair: each ratio is of one repeat. */
export function ratios(rows) {
  return table(
    ['measured', 'ours', 'beside', 'ratio', 'must', 'aim', ''],
    targets.map(target => judged(target, rows)).filter(row => row !== null),
    3,
  );
}

function judged(target, rows) {
  const { group, metric, must, aim, isHigherBetter } = target;
  const pairs = [...new Set(rows.map(({ repeat }) => repeat))].flatMap(repeat => pairIn(target, rows, repeat));
  if (pairs.length === 0) return null;

  const values = pairs.map(({ value }) => value);
  const reached = median(values);
  const meets = limit => (isHigherBetter ? reached >= limit : reached <= limit);

  return [
    `${group}, ${metric}`,
    settingsOf(pairs, ({ ours }) => ours),
    settingsOf(pairs, ({ theirs }) => theirs),
    `${format(reached)} (${format(Math.min(...values))}–${format(Math.max(...values))})`,
    must,
    aim,
    meets(aim) ? 'aim' : meets(must) ? 'must' : 'missed',
  ];
}

function pairIn({ group, metric, isHigherBetter, ours, theirs }, rows, repeat) {
  const inRepeat = rows.filter(row => row.repeat === repeat && row.cell.group === group && row.result[metric] != null);
  const bestOf = matches =>
    best(
      inRepeat.filter(({ cell }) => matches(cell)),
      metric,
      isHigherBetter,
    );
  const own = bestOf(ours);
  const other = theirs === null ? undefined : bestOf(theirs);

  if (own === undefined || (theirs !== null && other === undefined)) return [];
  return [{ ours: own, theirs: other, value: own.result[metric] / (other?.result[metric] ?? 1) }];
}

function best(rows, metric, isHigherBetter) {
  const sorted = [...rows].sort((a, b) => a.result[metric] - b.result[metric]);
  return isHigherBetter ? sorted.at(-1) : sorted[0];
}

function settingsOf(pairs, sideOf) {
  const names = pairs
    .map(sideOf)
    .filter(row => row !== undefined)
    .map(({ cell }) => `${cell.system} (${cell.setting})`);
  return [...new Set(names)].join(', ') || '–';
}
