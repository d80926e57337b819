import type { Clock } from '../core/clock.ts';
import type { QueueSettings, QueueStore } from '../core/queues.ts';
import { dateOf } from '../core/time.ts';
import type { HintChannel } from './hint-channel.ts';
import type { Row, Session } from './session.ts';
import { limitQueue, pauseQueue, readQueues } from './sql/shared/queues.ts';

/** The settings of queues on MikroORM. */
export class MikroOrmQueueStore implements QueueStore {
  readonly #session: Session;
  readonly #clock: Clock;
  readonly #hints: HintChannel;

  constructor({
    session,
    clock,
    hints,
  }: {
    readonly session: Session;
    readonly clock: Clock;
    readonly hints: HintChannel;
  }) {
    this.#session = session;
    this.#clock = clock;
    this.#hints = hints;
  }

  async setQueuePaused(name: string, isPaused: boolean, actor: string | null): Promise<void> {
    await this.#session.write(pauseQueue(this.#session.tables, name, isPaused, actor, this.#clock.now()));
    this.#hints.send({ kind: 'due' });
  }

  async setQueueLimit(name: string, maxRunning: number | null, actor: string | null): Promise<void> {
    await this.#session.write(limitQueue(this.#session.tables, name, maxRunning, actor, this.#clock.now()));
    this.#hints.send({ kind: 'due' });
  }

  async queueSettings(): Promise<QueueSettings[]> {
    return (await this.#session.read(readQueues(this.#session.tables))).map(toSettings);
  }
}

function toSettings(row: Row): QueueSettings {
  return Object.freeze({
    name: row.name as string,
    isPaused: Boolean(row.paused),
    maxRunning: row.max_running === null ? null : Number(row.max_running),
    changedBy: row.changed_by as string | null,
    updatedAt: dateOf(Number(row.updated_at)),
  });
}
