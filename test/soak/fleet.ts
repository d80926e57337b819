import { setTimeout as delay } from 'node:timers/promises';
import { spawnNode, type Child } from '../support/child.ts';
import { randomNumbers } from '../support/random.ts';

const program = 'test/soak/worker.ts';
/** More than the workers' lease. */
const frozenMs = 12_000;

interface FleetOptions {
  readonly args: readonly string[];
  readonly size: number;
  readonly seed: number;
  readonly freezes: boolean;
}

/** The worker processes. The first is never killed nor frozen. */
export class Fleet {
  readonly counts = { kills: 0, freezes: 0 };
  /** What workers said, counted. */
  readonly events: Record<string, number> = {};
  /** What workers said that must never be. */
  readonly problems: string[] = [];
  /** The lasting worker's, in MiB, from time to time. */
  readonly heapMiB: number[] = [];
  readonly #options: FleetOptions;
  readonly #random: () => number;
  readonly #workers: Child[] = [];
  #isClosing = false;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#random = randomNumbers(options.seed);
  }

  async open(): Promise<void> {
    for (let i = 0; i < this.#options.size; i++) this.#workers.push(this.#spawn());
    await Promise.all(this.#workers.map(worker => worker.line('"ready"')));
  }

  async disturbUntil(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await delay(500 + this.#random() * 3000);
      const i = 1 + Math.floor(this.#random() * (this.#workers.length - 1));
      if (this.#options.freezes && this.#random() < 0.3) await this.#freeze(this.#workers[i]!);
      else await this.#replace(i);
    }
  }

  async placeNoMore(): Promise<void> {
    await Promise.all(this.#workers.map(worker => worker.line('"ready"')));
    this.#workers.forEach(worker => worker.process.kill('SIGUSR2'));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const exits = await Promise.all(this.#workers.map(worker => worker.kill('SIGTERM')));
    exits.forEach(({ code, signal }) => {
      if (code !== 0) this.problems.push(`a worker ended with ${signal ?? code}`);
    });
  }

  async kill(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#workers.map(worker => worker.kill()));
  }

  async #replace(i: number): Promise<void> {
    await this.#workers[i]!.kill();
    this.counts.kills++;
    this.#workers[i] = this.#spawn();
  }

  /** Once it thaws it finds that others took over. */
  async #freeze({ process }: Child): Promise<void> {
    process.kill('SIGSTOP');
    this.counts.freezes++;
    await delay(frozenMs);
    process.kill('SIGCONT');
  }

  #spawn(): Child {
    const isLasting = this.#workers.length === 0;
    const worker = spawnNode(program, this.#options.args);
    let rest = '';
    worker.process.stdout!.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      lines.forEach(line => this.#hear(line, isLasting));
    });
    void worker.exited.then(({ code }) => {
      if (code !== null && code !== 0) {
        this.problems.push(`a worker ended with ${code}: ${worker.stderr().slice(-2000)}`);
      }
      if (code === 0 && !this.#isClosing) this.problems.push('a worker ended by itself');
    });

    return worker;
  }

  #hear(line: string, isLasting: boolean): void {
    // The ORM's drivers write lines of their own.
    if (!line.startsWith('{')) return;
    const { event, ...fields } = JSON.parse(line) as { event: string; heapMiB?: number; error?: string };
    if (event === 'heap') {
      if (isLasting) this.heapMiB.push(fields.heapMiB!);
      return;
    }
    const what = fields.error === undefined ? event : `${event}: ${fields.error.slice(0, 100)}`;
    this.events[what] = (this.events[what] ?? 0) + 1;
    // A process that was frozen past its lease may still be at what another one took over; the database refuses what it writes.
    const isAllowed = event === 'two_owners' && this.#options.freezes;
    if (['two_owners', 'unhandled_rejection'].includes(event) && !isAllowed) this.problems.push(line);
  }
}
