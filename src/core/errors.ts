import type { JobKey } from './job-key.ts';

const brand = Symbol.for('mikro-orm-jobs.error');

/** What every error of this library is. `code` is stable; the facts are fields; `cause` is kept. */
export abstract class JobsError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Recognises errors of ours by a registered symbol, so that an ESM and a CommonJS copy of this package know each other's. */
export function isJobsError(error: unknown): error is JobsError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** A submission, or something in it, can't be stored. Nothing was sent to the database. */
export class InvalidSubmissionError extends JobsError {
  readonly code = 'INVALID_SUBMISSION';
  readonly field: string;
  readonly rule: string;

  constructor(field: string, rule: string, options?: ErrorOptions) {
    super(`Invalid submission: expected \`${field}\` to ${rule}.`, options);
    this.field = field;
    this.rule = rule;
  }
}

/** An option has a value that it can't have, alone or beside the others. */
export class InvalidOptionError extends JobsError {
  readonly code = 'INVALID_OPTION';
  readonly option: string;
  readonly rule: string;
  readonly value: unknown;

  constructor(option: string, rule: string, value: unknown) {
    super(`Invalid option: expected \`${option}\` to ${rule}, got ${shown(value)}.`);
    this.option = option;
    this.rule = rule;
    this.value = value;
  }
}

/** `stage()` was called where no transaction is open that the caller owns. */
export class TransactionRequiredError extends JobsError {
  readonly code = 'TRANSACTION_REQUIRED';

  constructor(what: string, advice: string) {
    super(`${what} needs an explicit transaction of yours: ${advice}`);
  }
}

/** A call that uses a connection of its own was made inside a transaction of the same ORM. */
export class AmbientTransactionError extends JobsError {
  readonly code = 'AMBIENT_TRANSACTION';
  readonly operation: string;

  constructor(operation: string, advice: string) {
    super(
      `${operation} works on its own connection and was called inside a transaction: with SQLite it would wait for that ` +
        `transaction for ever, elsewhere it would not be part of it. ${advice}`,
    );
    this.operation = operation;
  }
}

/**
 * SQLite has ended the transaction by itself, as it may when the disk is full, and an error that said so was caught: what is written now
 * would be committed by itself. MikroORM 7.2 and later; with MikroORM 6 nothing tells of it but the commit, which fails.
 */
export class TransactionEndedError extends JobsError {
  readonly code = 'TRANSACTION_ENDED';

  constructor() {
    super(
      'The database has ended this transaction by itself: let the error of the statement before reach whoever began it.',
    );
  }
}

/** The work of `job.transactional()` began, committed or rolled back by itself; everything that it wrote is rolled back. */
export class TransactionControlError extends JobsError {
  readonly code = 'TRANSACTION_CONTROL';
  readonly call: string;

  constructor(call: string) {
    super(
      `${call} was called inside of \`job.transactional()\`, whose transaction ends with the attempt: leave it to that.`,
    );
    this.call = call;
  }
}

/** The EntityManager is not the one whose transaction is open here, or belongs to another ORM. */
export class EntityManagerMismatchError extends JobsError {
  readonly code = 'ENTITY_MANAGER_MISMATCH';

  constructor(explanation: string) {
    super(explanation);
  }
}

/** One difference between a stored job and a request under the same identity. The payload's values are never shown. */
export interface IdentityDifference {
  readonly field: 'name' | 'version' | 'payload' | 'queue' | 'maxAttempts' | 'notBefore';
  readonly stored?: unknown;
  readonly submitted?: unknown;
}

/**
 * The identity (scope and id) is taken by a different request. The stored job is unchanged. Inside a transaction of
 * yours, roll it back: what you wrote beside the job belongs to a request that was refused.
 */
export class JobIdentityConflictError extends JobsError {
  readonly code = 'JOB_IDENTITY_CONFLICT';
  readonly key: JobKey;
  readonly differences: readonly IdentityDifference[];

  constructor(key: JobKey, differences: readonly IdentityDifference[]) {
    super(
      `Job ${describeKey(key)} is already there with a different request: ${differences.map(describe).join(', ')}.`,
    );
    this.key = key;
    this.differences = differences;
  }
}

/** A job was to wait for a job that is neither stored nor part of the same call. Nothing of the call is stored. */
export class ParentNotFoundError extends JobsError {
  readonly code = 'PARENT_NOT_FOUND';
  readonly key: JobKey;
  readonly parentId: string;

  constructor(key: JobKey, parentId: string) {
    super(
      `Job ${describeKey(key)} is to wait for "${parentId}", which is neither stored in its scope nor part of this call.`,
    );
    this.key = key;
    this.parentId = parentId;
  }
}

/**
 * The row of an attempt is gone, so the transition was not made: somebody deleted it by hand. The `cause` of the
 * `AttemptAbortedError` that `job.transactional()` then rejects with.
 */
export class AttemptMissingError extends JobsError {
  readonly code = 'ATTEMPT_MISSING';
  readonly key: JobKey;
  readonly attempt: number;

  constructor(key: JobKey, attempt: number) {
    super(`Attempt ${attempt} of job ${describeKey(key)} has no row any more; the job was left as it is.`);
    this.key = key;
    this.attempt = attempt;
  }
}

/** `job.transactional()` was called where the attempt's outcome was decided already, or was about to be. */
export class AttemptSettledError extends JobsError {
  readonly code = 'ATTEMPT_SETTLED';
  readonly key: JobKey;
  readonly attempt: number;

  /** @param since what it came after, for example `'was settled'` */
  constructor(key: JobKey, attempt: number, operation: string, since: string, options?: ErrorOptions) {
    super(
      `${operation} came after attempt ${attempt} of job ${describeKey(key)} ${since}; it is the last thing that a handler does, once.`,
      options,
    );
    this.key = key;
    this.attempt = attempt;
  }
}

/**
 * The attempt no longer owns its job: it was recovered elsewhere. What it wrote in its transaction is gone. The `cause` of an
 * `AttemptAbortedError` that says `lost`.
 */
export class StaleAttemptError extends JobsError {
  readonly code = 'STALE_ATTEMPT';
  readonly key: JobKey;
  readonly attempt: number;

  constructor(key: JobKey, attempt: number) {
    super(`Attempt ${attempt} of job ${describeKey(key)} no longer owns the job; nothing of it was written.`);
    this.key = key;
    this.attempt = attempt;
  }
}

/** `jobEntities` are not in the ORM's configuration. */
export class EntitiesNotRegisteredError extends JobsError {
  readonly code = 'ENTITIES_NOT_REGISTERED';
  readonly entities: readonly string[];

  constructor(entities: readonly string[]) {
    super(
      `The ORM doesn't know ${entities.join(', ')}: add \`...jobEntities\` (from 'mikro-orm-jobs') to \`entities\` in its configuration.`,
    );
    this.entities = entities;
  }
}

/** The tables are not in the database. */
export class SchemaMissingError extends JobsError {
  readonly code = 'SCHEMA_MISSING';

  constructor(options?: ErrorOptions) {
    super(
      'The tables of mikro-orm-jobs are missing, or of another version. Make them with `npx mikro-orm migration:create` and ' +
        '`npx mikro-orm migration:up`, or run the shipped `jobMigrations` (see docs/migrations.md).',
      options,
    );
  }
}

/** The ORM's driver is none that this library has statements for. */
export class UnsupportedDriverError extends JobsError {
  readonly code = 'UNSUPPORTED_DRIVER';
  readonly driver: string;

  constructor(driver: string) {
    super(`mikro-orm-jobs works with the SQLite and PostgreSQL drivers of MikroORM, not with ${driver}.`);
    this.driver = driver;
  }
}

/** A call waited too long for a connection; whether it was carried out is said in the message. */
export class ConnectionTimeoutError extends JobsError {
  readonly code = 'CONNECTION_TIMEOUT';

  constructor(operation: string, options?: ErrorOptions) {
    super(
      `${operation} got no connection in time. Is it awaited beside an open \`em.begin()\` on a driver or pool with one ` +
        'connection? Use that transaction there (`stage()`), or call it afterwards. It may be called again as it was.',
      options,
    );
  }
}

/** The database skips the row and has no row in its place; a trigger or rule of the host's is the usual reason. */
export class InsertRefusedError extends JobsError {
  readonly code = 'INSERT_REFUSED';
  readonly key: JobKey;

  constructor(key: JobKey) {
    super(
      `The database stored no row for job ${describeKey(key)} and has none in its place; is there a trigger or a rule on its table?`,
    );
    this.key = key;
  }
}

/** `"id"`, or `"id" in scope "s"`. */
export function describeKey(key: JobKey): string {
  return key.scope === '' ? `"${key.id}"` : `"${key.id}" in scope "${key.scope.slice(0, 100)}"`;
}

function describe({ field, stored, submitted }: IdentityDifference): string {
  return field === 'payload' ? 'payload differs' : `${field} is ${shown(stored)}, submitted ${shown(submitted)}`;
}

function shown(value: unknown): string {
  try {
    if (value instanceof Date) {
      return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString();
    }
    if (Array.isArray(value)) {
      return `a list of ${value.length}`;
    }
    if (isPlain(value)) {
      return `an object with ${Object.keys(value).join(', ').slice(0, 100) || 'nothing'}`;
    }

    return typeof value === 'string' ? `'${value.slice(0, 100)}'` : String(value).slice(0, 100);
  } catch {
    // An object without a prototype, or one whose toString throws.
    return `a value of type ${typeof value}`;
  }
}

/** Its `String()` would say [object Object]. */
function isPlain(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]' && String(value) === '[object Object]';
}
