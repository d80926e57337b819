import { ownCpu, serverCpu } from './processes.mjs';
import { sent } from './statements.mjs';

/** Starts a measurement; what it returns ends it and says what `count` jobs took. */
export function startMeter(serverPid) {
  const before = { time: performance.now(), own: ownCpu(), server: serverCpu(serverPid), statements: sent.count };

  return count => {
    const seconds = (performance.now() - before.time) / 1000;
    const server = serverCpu(serverPid);

    return {
      perSecond: count / seconds,
      seconds,
      statementsPerJob: (sent.count - before.statements) / count,
      nodeCpuMsPerThousand: ((ownCpu() - before.own) / count) * 1e6,
      serverCpuMsPerThousand: server === null ? null : ((server - before.server) / count) * 1e6,
    };
  };
}
