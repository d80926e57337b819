import { setTimeout as sleep } from 'node:timers/promises';
import { startMeter } from '../measure/meter.mjs';
import { quantile } from '../measure/numbers.mjs';

const warmUps = 50;

/** From the call that submits a job to the begin of its handler, in one process, at a steady rate. */
export async function latency({ system, count, perSecond, serverPid }) {
  const submittedAt = new Map();
  const latencies = [];
  let begun = 0;
  await system.work({
    onJob: n => {
      begun++;
      if (submittedAt.has(n)) latencies.push(performance.now() - submittedAt.get(n));
    },
  });
  await sleep(500);
  for (let n = 1; n <= warmUps; n++) await system.submit(-n);
  await until(() => begun >= warmUps, 15_000);
  await sleep(1000);

  const end = startMeter(serverPid);
  const started = performance.now();
  const submits = [];
  for (let n = 0; n < count; n++) {
    const early = started + (n * 1000) / perSecond - performance.now();
    if (early > 1) await sleep(early);
    submittedAt.set(n, performance.now());
    submits.push(system.submit(n));
  }
  await Promise.all(submits);
  await until(() => latencies.length === count, 30_000);

  const { statementsPerJob, nodeCpuMsPerThousand, serverCpuMsPerThousand } = end(count);
  return {
    begun: latencies.length,
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
    p99: quantile(latencies, 0.99),
    statementsPerJob,
    nodeCpuMsPerThousand,
    serverCpuMsPerThousand,
  };
}

async function until(isTrue, limitMs) {
  const started = performance.now();
  while (!isTrue() && performance.now() - started < limitMs) await sleep(10);
}
