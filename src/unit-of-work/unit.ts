import type { Message, OutboxOptions } from '../core/message.ts';
import type { StageResult } from '../core/snapshot.ts';
import type { Submission } from '../core/submission.ts';

/**
 * What `work` works with. It ends with its execute or consume and is refused afterwards; it is not for concurrent use.
 * Everything in it is one transaction: business rows, jobs, outgoing messages and the incoming message's receipt.
 */
export interface Unit<Em> {
  /**
   * The EntityManager of the transaction; the global one resolves to it inside of `work`. What it has left is flushed when
   * `work` has returned. It can't begin, commit or roll back: return to commit, throw to roll back.
   */
  readonly em: Em;
  /** Aborted with the caller's signal, and when the delivery loses its message; nothing is committed then. */
  readonly signal: AbortSignal;
  /** As `jobs.stage()`, in this transaction. After a failure the whole unit is rolled back, even if the error is caught. */
  stage(submission: Submission): Promise<StageResult>;
  stage(submissions: readonly Submission[]): Promise<StageResult[]>;
  readonly outbox: Outbox;
}

/** Messages that are sent if, and only if, the transaction commits. */
export interface Outbox {
  /**
   * Freezes the message now and writes it in the transaction's last moment. The same message again is no second one;
   * its sending is the relay's, which finds it `pending` and due in `durable_outbox_message`.
   *
   * After a failure the whole unit is rolled back, even if the error is caught. A message can't belong to a savepoint: it is
   * refused inside `em.transactional()`.
   *
   * @throws InvalidMessageError
   * @throws MessageContractError when the id belongs to another message of this unit; for one that is stored already,
   * the unit's commit rejects with it
   */
  add(message: Message, options?: OutboxOptions): void;
}
