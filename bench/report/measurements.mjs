import { median } from '../measure/numbers.mjs';
import { format, table } from './table.mjs';

const columnsOf = {
  submit: ['perSecond', 'statementsPerJob', 'nodeCpuMsPerThousand', 'serverCpuMsPerThousand'],
  submitMany: ['perSecond', 'nodeCpuMsPerThousand', 'serverCpuMsPerThousand'],
  stage: ['perSecond', 'statementsPerJob', 'nodeCpuMsPerThousand', 'serverCpuMsPerThousand'],
  drain: ['perSecond', 'statementsPerJob', 'memoryGrownMiB', 'nodeCpuMsPerThousand', 'serverCpuMsPerThousand'],
  latency: ['p50', 'p95', 'p99', 'statementsPerJob', 'nodeCpuMsPerThousand', 'serverCpuMsPerThousand'],
  idle: ['statementsPerSecond'],
};

const titleOf = {
  perSecond: 'jobs/s',
  statementsPerJob: 'statements per job',
  nodeCpuMsPerThousand: 'Node CPU, ms per 1,000',
  serverCpuMsPerThousand: 'server CPU, ms per 1,000',
  memoryGrownMiB: 'memory grown, MiB',
  p50: 'p50, ms',
  p95: 'p95, ms',
  p99: 'p99, ms',
  statementsPerSecond: 'statements/s',
};

/** One table for each group: median (min–max) of each system and setting. */
export function measurements(rows) {
  return [...groupBy(rows, ({ cell }) => cell.group)]
    .map(([group, of]) => `### ${group}\n\n${measured(of)}\n`)
    .join('\n');
}

function measured(rows) {
  const columns = columnsOf[rows[0].cell.scenario].filter(column =>
    rows.some(({ result }) => isNumber(result[column])),
  );
  const bySetting = groupBy(rows, ({ cell }) => `${cell.system} | ${cell.setting}`);

  return table(
    ['system', 'setting', 'runs', ...columns.map(column => titleOf[column])],
    [...bySetting].map(([name, of]) => [name, of.length, ...columns.map(column => summary(of, column))]),
    2,
  );
}

function summary(rows, column) {
  const values = rows.map(({ result }) => result[column]).filter(isNumber);
  if (values.length === 0) return '';

  return `${format(median(values))} (${format(Math.min(...values))}–${format(Math.max(...values))})`;
}

function groupBy(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);

  return groups;
}

function isNumber(value) {
  return typeof value === 'number' && Number.isFinite(value);
}
