import { constants } from 'node:os';
import { InvalidOptionError } from '../core/errors.ts';

/** What runs until a signal stops it. */
interface Stoppable {
  stop(): Promise<void>;
}

/** One listener a signal for all executors of the process: how it ends is decided once. */
const stoppables = new Map<NodeJS.Signals, Set<Stoppable>>();
let stopping: Promise<void> | null = null;
/** Nobody can listen for these. */
const deaf: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGSTOP'];

/** @returns takes it back */
export function stopOnSignals(executor: Stoppable, signals: readonly NodeJS.Signals[]): () => void {
  const checked = checkedSignals(signals);
  // One entry a call, so that taking one back leaves the others.
  const entry: Stoppable = { stop: () => executor.stop() };
  checked.forEach(signal => add(signal, entry));

  return () => checked.forEach(signal => remove(signal, entry));
}

function add(signal: NodeJS.Signals, entry: Stoppable): void {
  const others = stoppables.get(signal);
  if (others === undefined) {
    stoppables.set(signal, new Set([entry]));
    // In front, to see listeners of the host's that are called once.
    process.prependListener(signal, onSignal);
  } else {
    others.add(entry);
  }
}

function remove(signal: NodeJS.Signals, entry: Stoppable): void {
  const entries = stoppables.get(signal);
  if (entries?.delete(entry) && entries.size === 0) {
    stoppables.delete(signal);
    process.removeListener(signal, onSignal);
  }
}

function onSignal(signal: NodeJS.Signals): void {
  const isOurs = process.listenerCount(signal) === 1;

  if (stopping === null) {
    stopping = stopAll(signal).then(() => {
      stopping = null;
      // Without us the signal would have ended the process. Where the host listens too, how it ends is the host's matter.
      if (isOurs) {
        exit(signal);
      }
    });
  } else if (isOurs) {
    exit(signal);
  }
}

async function stopAll(signal: NodeJS.Signals): Promise<void> {
  await Promise.all([...stoppables.get(signal)!].map(executor => executor.stop()));
}

/** As a shell says it of a process that a signal has ended. Not by the signal itself, which the first process of a container ignores. */
function exit(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal]);
}

function checkedSignals(signals: readonly NodeJS.Signals[]): readonly NodeJS.Signals[] {
  const canBeHeard = (signal: NodeJS.Signals) => Object.hasOwn(constants.signals, signal) && !deaf.includes(signal);
  if (!Array.isArray(signals) || signals.length === 0 || !signals.every(canBeHeard)) {
    throw new InvalidOptionError(
      'signals',
      "name at least one signal that can be listened for, such as 'SIGTERM'",
      signals,
    );
  }

  return [...new Set(signals as readonly NodeJS.Signals[])];
}
