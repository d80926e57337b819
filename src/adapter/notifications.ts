import { setTimeout as delay } from 'node:timers/promises';
import type { JobKey } from '../core/job-key.ts';
import type { Logger } from '../core/logger.ts';
import { sha256 } from '../core/sha256.ts';
import type { StoreHint } from '../core/store.ts';
import type { PostgresqlClient } from './postgresql-client.ts';
import type { Run } from './session.ts';
import { sql } from './sql/statement.ts';

/** What one notification says; who sent it needn't hear it. */
interface Notification {
  readonly from: string;
  readonly due?: true;
  readonly recurring?: true;
  readonly room?: true;
  readonly cancel?: readonly JobKey[];
}

export interface NotificationsParts {
  /** Sends a statement on a connection of the library's own; null while the ORM is closed. */
  readonly run: () => Run | null;
  readonly connect: (stopped: AbortSignal) => Promise<PostgresqlClient | null>;
  /** Unique among all that tell and don't hear each other otherwise. */
  readonly sender: string;
  /** Hands on what other processes said. */
  readonly onHint: (hint: StoreHint) => void;
  /** The job table, as SQL writes it: whoever shares it shares the channel. */
  readonly table: string;
  readonly logger: Logger;
}

const coalesceMs = 10;
/** NOTIFY takes up to 8,000 bytes. */
const maxPayloadBytes = 7900;
const firstRetryMs = 1000;
const longestRetryMs = 30_000;

/**
 * Tells the executors of other processes what was committed, by LISTEN and NOTIFY. Only hints: whatever is lost is found by
 * polling. Sent after the commit, never in the host's transaction, where NOTIFY takes one lock for the commits of the whole server
 * (measured: 15,000 to 5,000 commits a second); at most one in 10 ms.
 */
export class Notifications {
  readonly #parts: NotificationsParts;
  readonly #channel: string;
  #pending: { due?: true; recurring?: true; room?: true; cancel: JobKey[] } | null = null;
  #isResting = false;
  #isSendingBroken = false;
  #isListeningBroken = false;
  #stopping: AbortController | null = null;
  #listening: Promise<void> = Promise.resolve();

  constructor(parts: NotificationsParts) {
    this.#parts = parts;
    this.#channel = `durable_job_${sha256(parts.table).slice(0, 16)}`;
  }

  send(hint: StoreHint): void {
    if (hint.kind === 'missed') {
      return;
    }

    this.#pending ??= { cancel: [] };
    if (hint.kind === 'cancel') {
      this.#pending.cancel.push(hint.key);
    } else {
      this.#pending[hint.kind] = true;
    }
    if (!this.#isResting) {
      this.#flush();
    }
  }

  /** Begins to listen, in the background: a connection that can't be had is tried again and again. */
  listen(): void {
    if (this.#stopping === null) {
      this.#stopping = new AbortController();
      this.#listening = this.#listenUntil(this.#stopping.signal);
    }
  }

  /** Resolves when the connection is closed. */
  async stop(): Promise<void> {
    this.#stopping?.abort();
    this.#stopping = null;
    await this.#listening;
  }

  #flush(): void {
    const pending = this.#pending;
    const run = this.#parts.run();
    this.#pending = null;
    if (pending === null || run === null) {
      return;
    }

    this.#isResting = true;
    setTimeout(() => {
      this.#isResting = false;
      this.#flush();
    }, coalesceMs).unref();
    void this.#notify(run, { from: this.#parts.sender, ...pending });
  }

  async #notify(run: Run, notification: Notification): Promise<void> {
    // A cancel that doesn't fit is seen with the next renewal.
    const whole = JSON.stringify(notification);
    const payload =
      Buffer.byteLength(whole) <= maxPayloadBytes ? whole : JSON.stringify({ ...notification, cancel: [] });

    try {
      // A hint needn't survive a crash: with a flush of its own it would stand in the way of those of the commits it tells of.
      await run(sql`select pg_notify(${this.#channel}, ${payload}), set_config('synchronous_commit', 'off', true)`);
      this.#isSendingBroken = false;
    } catch (error) {
      if (!this.#isSendingBroken && this.#parts.run() !== null) {
        this.#isSendingBroken = true;
        this.#parts.logger.warn(
          { event: 'notify_failed', error },
          'other processes could not be told of a commit; they poll',
        );
      }
    }
  }

  async #listenUntil(stopped: AbortSignal): Promise<void> {
    for (let failures = 0; !stopped.aborted; failures++) {
      try {
        const client = await this.#parts.connect(stopped);
        if (client === null) {
          this.#parts.logger.info(
            { event: 'listen_unavailable' },
            'the driver gives no connection to listen on; executors poll',
          );
          return;
        }
        const error = await this.#hold(client, stopped);
        failures = 0;
        this.#listeningFailed('listen_lost', error, stopped);
      } catch (error) {
        this.#listeningFailed('listen_failed', error, stopped);
      }

      await delay(Math.min(firstRetryMs * 2 ** failures, longestRetryMs), undefined, { signal: stopped }).catch(
        () => {},
      );
    }
  }

  /** Said once, until it listens again. */
  #listeningFailed(event: 'listen_failed' | 'listen_lost', error: unknown, stopped: AbortSignal): void {
    if (!this.#isListeningBroken && !stopped.aborted) {
      this.#isListeningBroken = true;
      this.#parts.logger.warn({ event, error }, 'no connection to listen on; executors poll until there is');
    }
  }

  #listens(): void {
    if (this.#isListeningBroken) {
      this.#isListeningBroken = false;
      this.#parts.logger.info({ event: 'listen_recovered' }, 'there is a connection to listen on again');
    }
  }

  /**
   * Listens until the connection ends or the signal is aborted.
   *
   * @returns why it ended, if that is known
   * @throws when it could not even begin to listen
   */
  async #hold(client: PostgresqlClient, stopped: AbortSignal): Promise<unknown> {
    const ended = new Promise<unknown>(resolve => {
      client.on('error', resolve);
      client.on('end', () => resolve(null));
      stopped.addEventListener('abort', () => resolve(null), { once: true });
      // It may have been stopped while it connected; that isn't told again.
      if (stopped.aborted) {
        resolve(null);
      }
    });
    client.on('notification', ({ payload }) => this.#heard(payload));

    try {
      await client.query(`listen ${this.#channel}`);
      this.#listens();
      // What was committed while nobody listened is not told again.
      this.#parts.onHint({ kind: 'missed' });

      return await ended;
    } finally {
      await client.end().catch(() => {});
    }
  }

  #heard(payload: string | undefined): void {
    const { from, due, recurring, room, cancel = [] } = parsed(payload);
    if (from === this.#parts.sender) {
      return;
    }

    if (due) {
      this.#parts.onHint({ kind: 'due' });
    }
    if (recurring) {
      this.#parts.onHint({ kind: 'recurring' });
    }
    if (room) {
      this.#parts.onHint({ kind: 'room' });
    }
    cancel.forEach(key => this.#parts.onHint({ kind: 'cancel', key }));
  }
}

/** Whoever may connect may notify: what can't be read says nothing. */
function parsed(payload: string | undefined): Partial<Notification> {
  try {
    const { from, due, recurring, room, cancel } = JSON.parse(payload ?? '{}') as Partial<Notification>;
    return { from, due, recurring, room, cancel: Array.isArray(cancel) ? cancel.filter(isKey) : [] };
  } catch {
    return {};
  }
}

function isKey(key: unknown): key is JobKey {
  const { scope, id } = (key ?? {}) as Partial<JobKey>;
  return typeof scope === 'string' && typeof id === 'string';
}
