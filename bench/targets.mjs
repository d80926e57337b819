const ours = setting => cell => cell.system === 'ours' && (setting === undefined || cell.setting === setting);
const peer = (system, setting) => cell => cell.system === system && (setting === undefined || cell.setting === setting);
const anyPeer = cell => ['graphile-worker', 'pg-boss', 'bullmq'].includes(cell.system);

const faster = { metric: 'perSecond', isHigherBetter: true };
const p50 = { metric: 'p50', isHigherBetter: false };
const p95 = { metric: 'p95', isHigherBetter: false };
const memory = { metric: 'memoryGrownMiB', isHigherBetter: false };
const statements = { metric: 'statementsPerJob', isHigherBetter: false };

/**
 * What we must reach and aim at: ours divided by theirs, or ours alone where there is nobody to divide by. Where several systems
 * or settings match, the best of each side counts.
 */
export const targets = [
  { group: 'submit one by one', ...faster, ours: ours(), theirs: anyPeer, must: 1.2, aim: 1.4 },
  { group: 'submit from ten', ...faster, ours: ours(), theirs: anyPeer, must: 2.0, aim: 2.5 },
  { group: 'stage one by one', ...faster, ours: ours(), theirs: anyPeer, must: 1.2, aim: 1.3 },
  { group: 'stage from ten', ...faster, ours: ours(), theirs: anyPeer, must: 1.4, aim: 1.6 },
  { group: 'drain', ...faster, ours: ours('default'), theirs: peer('graphile-worker', 'default'), must: 2.0, aim: 3.0 },
  { group: 'drain', ...faster, ours: ours(), theirs: peer('pg-boss'), must: 0.7, aim: 1.0 },
  { group: 'drain', ...faster, ours: ours(), theirs: peer('graphile-worker'), must: 0.5, aim: 0.75 },
  { group: 'drain, writing', ...faster, ours: ours(), theirs: anyPeer, must: 1.3, aim: 1.6 },
  { group: 'latency', ...p50, ours: ours(), theirs: anyPeer, must: 1.0, aim: 0.8 },
  { group: 'latency', ...p95, ours: ours(), theirs: anyPeer, must: 1.0, aim: 0.8 },
  { group: 'drain', ...statements, ours: ours('default'), theirs: null, must: 0.4, aim: 0.2 },
  { group: 'drain', ...memory, ours: ours('default'), theirs: peer('graphile-worker', 'default'), must: 1.0, aim: 0.7 },
  { group: 'SQLite drain', ...faster, ours: peer('ours-sqlite'), theirs: peer('plainjob'), must: 6, aim: 10 },
];
