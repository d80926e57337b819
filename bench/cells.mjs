/** What is measured: a scenario, a system, one of its settings. */
const peers = ['graphile-worker', 'pg-boss', 'bullmq'];
const postgresql = ['ours', ...peers];

export const cells = [
  ...postgresql.map(system => ({ group: 'submit one by one', scenario: 'submit', system, producers: 1, count: 2000 })),
  ...postgresql.map(system => ({ group: 'submit from ten', scenario: 'submit', system, producers: 10, count: 6000 })),
  ...postgresql.map(system => ({ group: 'submit in bulk', scenario: 'submitMany', system, count: 10_000 })),
  ...staging({ group: 'stage one by one', producers: 1, count: 1500 }),
  ...staging({ group: 'stage from ten', producers: 10, count: 4000 }),
  ...draining('ours', ['default', 'concurrency 24', 'best']),
  ...draining('graphile-worker', ['default', 'documented', 'best']),
  // At its defaults it waits two seconds between single jobs: ten seconds of that are enough.
  ...draining('pg-boss', ['default'], { limitSeconds: 10 }),
  ...draining('pg-boss', ['batches of 100', 'batches of 1000']),
  ...draining('bullmq', ['default', 'concurrency 24']),
  ...writing('ours', ['default', 'concurrency 24', 'exactly once']),
  ...writing('graphile-worker', ['default', 'documented', 'best']),
  ...writing('pg-boss', ['batches of 100', 'batches of 1000']),
  ...writing('bullmq', ['default', 'concurrency 24']),
  ...delaying('ours', ['default']),
  ...delaying('graphile-worker', ['default', 'best']),
  ...delaying('pg-boss', ['notify']),
  ...delaying('bullmq', ['default']),
  ...idling('ours', ['default']),
  ...idling('graphile-worker', ['default', 'best']),
  ...idling('pg-boss', ['default', 'notify']),
  ...idling('bullmq', ['default']),
  { group: 'SQLite drain', scenario: 'drain', system: 'ours-sqlite', count: 20_000 },
  { group: 'SQLite drain', scenario: 'drain', system: 'ours-sqlite', setting: 'best', count: 20_000 },
  { group: 'SQLite drain', scenario: 'drain', system: 'plainjob', count: 20_000, limitSeconds: 20 },
].map(cell => ({ setting: 'default', role: cell.scenario.match(/submit|stage/) ? 'producer' : 'worker', ...cell }));

export const isOnPostgresql = ({ group }) => !group.startsWith('SQLite');

/** BullMQ documents no way into a transaction of the host's. */
function staging(cell) {
  return ['ours', 'graphile-worker', 'pg-boss'].map(system => ({
    ...cell,
    scenario: 'stage',
    system,
    isInApplication: true,
    connections: 12,
  }));
}

function draining(system, settings, more = {}) {
  return settings.map(setting => ({ group: 'drain', scenario: 'drain', system, setting, count: 20_000, ...more }));
}

function writing(system, settings) {
  return settings.map(setting => ({
    group: 'drain, writing',
    scenario: 'drain',
    system,
    setting,
    count: 10_000,
    isWriting: true,
    isInApplication: true,
    connections: 26,
  }));
}

function delaying(system, settings) {
  return settings.map(setting => ({
    group: 'latency',
    scenario: 'latency',
    system,
    setting,
    count: 1000,
    perSecond: 100,
  }));
}

function idling(system, settings) {
  return settings.map(setting => ({ group: 'idle', scenario: 'idle', system, setting, seconds: 30 }));
}
