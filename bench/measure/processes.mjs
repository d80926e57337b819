import fs from 'node:fs';

const ticksPerSecond = 100;

/** CPU seconds that this process has used. */
export function ownCpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** CPU seconds that a server and all its children, dead or alive, have used. Linux only; elsewhere null. */
export function serverCpu(pid) {
  const server = stat(pid);
  if (server === null) return null;

  const children = fs
    .readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(stat)
    .filter(child => child?.parent === Number(pid));

  return [server, ...children].reduce((sum, { own, reaped }) => sum + own + reaped, 0);
}

/** Forgets the peak so far and takes the memory that is in use now. Linux only; elsewhere null. */
export function startMemory() {
  globalThis.gc?.();

  try {
    fs.writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    return () => null;
  }
  const before = memory('VmRSS');

  /** How many MiB the peak since then is above it. */
  return () => (memory('VmHWM') - before) / 1024;
}

function memory(line) {
  return Number(fs.readFileSync('/proc/self/status', 'utf8').match(new RegExp(`${line}:\\s+(\\d+)`))[1]);
}

function stat(pid) {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);

    return {
      parent: fields[1],
      own: (fields[11] + fields[12]) / ticksPerSecond,
      reaped: (fields[13] + fields[14]) / ticksPerSecond,
    };
  } catch {
    return null;
  }
}
