import type { EntityManager } from '@mikro-orm/core';
import type { CreationClock } from '../core/clock.ts';
import { freezeMessage, MessageContractError, outboxDifferences } from '../core/message.ts';
import type { FrozenMessage, Message, OutboxOptions } from '../core/message.ts';
import type { Micros } from '../core/time.ts';
import { MessageRefusedError } from './errors.ts';
import { insertOutboxMessages } from './sql/insert-outbox-messages.ts';
import { readOutboxMessages } from './sql/read-outbox-messages.ts';

export interface PendingMessage extends FrozenMessage {
  readonly createdAt: Micros;
}

const batchSize = 100;
const maxTries = 3;

/** The messages that one unit has added and not written yet. */
export class PendingMessages {
  readonly #clock: CreationClock;
  #messages = new Map<string, PendingMessage>();

  constructor(clock: CreationClock) {
    this.#clock = clock;
  }

  /** @throws InvalidMessageError @throws MessageContractError */
  add(message: Message, options?: OutboxOptions): void {
    const frozen = freezeMessage(message, options);
    const known = this.#messages.get(frozen.id);

    if (known === undefined) {
      this.#messages.set(frozen.id, { ...frozen, createdAt: this.#clock.next() });
    } else {
      refuseDifferent(known, frozen);
    }
  }

  drop(): void {
    this.#messages = new Map();
  }

  /** Answers whether there was anything to write. @throws MessageContractError for an id that is stored differently */
  async write(em: EntityManager): Promise<boolean> {
    // In the order of ids, or two units that add the same ones would deadlock.
    const messages = [...this.#messages.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    this.drop();

    for (let start = 0; start < messages.length; start += batchSize) {
      await write(em, messages.slice(start, start + batchSize));
    }

    return messages.length > 0;
  }
}

async function write(em: EntityManager, messages: readonly PendingMessage[]): Promise<void> {
  let missing = messages;

  for (let tries = 0; tries < maxTries; tries++) {
    const written = await insertOutboxMessages(em, missing);
    missing = missing.filter(({ id }) => !written.has(id));
    if (missing.length === 0) {
      return;
    }

    const stored = new Map(
      (
        await readOutboxMessages(
          em,
          missing.map(({ id }) => id),
        )
      ).map(row => [row.id, row]),
    );
    missing.forEach(message => stored.has(message.id) && refuseDifferent(stored.get(message.id)!, message));
    // What was skipped and isn't there has been cleaned up in between.
    missing = missing.filter(({ id }) => !stored.has(id));
    if (missing.length === 0) {
      return;
    }
  }

  throw new MessageRefusedError(missing[0]!.id, 'outbox');
}

function refuseDifferent(stored: Parameters<typeof outboxDifferences>[0], given: FrozenMessage): void {
  const differences = outboxDifferences(stored, given);

  if (differences.length > 0) {
    throw new MessageContractError(given.id, 'outbox', differences);
  }
}
