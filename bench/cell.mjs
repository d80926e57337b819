// One measurement, in a process of its own. The cell comes as the argument, the result goes to the parent.
import { openApplication } from './application.mjs';
import { countStatements } from './measure/statements.mjs';
import { drain } from './scenarios/drain.mjs';
import { idle } from './scenarios/idle.mjs';
import { latency } from './scenarios/latency.mjs';
import { stage } from './scenarios/stage.mjs';
import { submit, submitMany } from './scenarios/submit.mjs';

const scenarios = { submit, submitMany, stage, preload, drain, latency, idle };
const sqliteFiles = ['ours-sqlite', 'plainjob'];

countStatements();
const cell = JSON.parse(process.argv[2]);
const { open, entities } = await import(`./systems/${cell.system}.mjs`);
const orm = cell.isInApplication ? await openApplication({ ...cell, entities }) : undefined;
const system = await open({ ...cell, orm });
await system.prepare?.();
if (sqliteFiles.includes(cell.system)) await preload({ system, count: cell.count });

const result = await scenarios[cell.scenario]({ ...cell, system, orm });

// Whoever doesn't stop in time is ended: the result is there.
await Promise.race([close(), new Promise(resolve => setTimeout(resolve, 4000))]);
process.send(result, () => process.exit());

async function preload({ system, count }) {
  for (let first = 0; first < count; first += 5000) await system.submitMany(Math.min(5000, count - first), first);
  return {};
}

async function close() {
  await system.close();
  await orm?.close();
}
