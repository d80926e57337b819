import { JobsError } from '../core/errors.ts';

/**
 * Work went on as if nothing had happened after something that can't be taken back: a nested execute, a `stage` or an
 * `outbox.add` failed, or a statement did. Everything was rolled back; `cause` says what had happened.
 */
export class UnitRolledBackError extends JobsError {
  readonly code = 'UNIT_ROLLED_BACK';

  constructor(what: string, options?: ErrorOptions) {
    super(
      `The unit of work was rolled back although its work returned: ${what}. Catching such an error doesn't undo it.`,
      options,
    );
  }
}

/** A unit was used after its end; each belongs to one execute, or one consume, and ends with it. */
export class UnitEndedError extends JobsError {
  readonly code = 'UNIT_ENDED';

  constructor(what: string) {
    super(
      `\`${what}\` was used after the end of its unit of work. Await everything that \`work\` begins, and keep nothing of the unit.`,
    );
  }
}

/** A second nested execute was begun while the first one ran: the two would share one EntityManager, which can't be shared. */
export class ConcurrentUnitError extends JobsError {
  readonly code = 'CONCURRENT_UNIT';

  constructor() {
    super(
      'Two nested executes of one unit of work were run at the same time; they share a transaction and an EntityManager. ' +
        'Await the first before the second.',
    );
  }
}

/** Work tried to begin, commit or roll back the transaction that its unit of work owns. */
export class UnitControlError extends JobsError {
  readonly code = 'UNIT_CONTROL';

  constructor(what: string) {
    super(
      `Work called ${what}, but its transaction belongs to the unit of work: return to commit, throw to roll back. ` +
        '`em.flush()` and `em.transactional()` (a savepoint) may be used.',
    );
  }
}

/** The delivery no longer holds its message: its lease lapsed, or another delivery took over. Nothing of it was written. */
export class MessageLostError extends JobsError {
  readonly code = 'MESSAGE_LOST';
  readonly messageId: string;
  readonly consumer: string;

  constructor(messageId: string, consumer: string) {
    super(
      `This delivery no longer holds message "${messageId}" for consumer "${consumer}"; nothing of it was written.`,
    );
    this.messageId = messageId;
    this.consumer = consumer;
  }
}

/** The database skips a row and has none in its place; a trigger or rule of the host's is the usual reason. */
export class MessageRefusedError extends JobsError {
  readonly code = 'MESSAGE_REFUSED';
  readonly messageId: string;

  constructor(messageId: string, box: 'inbox' | 'outbox') {
    super(
      `The database stored no row for message "${messageId}" in the ${box} and has none in its place; is there a trigger or ` +
        'a rule on its table?',
    );
    this.messageId = messageId;
  }
}
