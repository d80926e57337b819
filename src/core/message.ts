import { InvalidOptionError, JobsError } from './errors.ts';
import { checkKnown } from './known-options.ts';
import { sha256 } from './sha256.ts';
import { isStorable } from './text.ts';
import { instantOf, type Micros } from './time.ts';

/** A message, as it comes from a broker or goes to one. The content is text, and stays the text that it is. */
export interface Message {
  /** The sender's id: the same message has the same id however often it is delivered. 1 to 255 characters. */
  readonly id: string;
  /** Name of the contract that the content fulfils, for example `'order.paid'`. 1 to 255 characters. */
  readonly name: string;
  /** Version of that contract. 1 to 64 characters. */
  readonly version: string;
  /** Usually JSON, never parsed here: a number beyond 2^53 in it survives. */
  readonly content: string;
}

/** Where a message goes and what belongs to it. */
export interface OutboxOptions {
  /** Up to 255 characters. @default null: the relay decides */
  readonly destination?: string | null;
  /** At most 200 characters and 255 bytes as UTF-8. */
  readonly correlationId?: string | null;
  /** W3C `traceparent`, at most 128 characters. */
  readonly traceParent?: string | null;
  /** W3C `tracestate`, at most 512 characters. */
  readonly traceState?: string | null;
  /** The message is not sent any more after this. @default null: it is sent however late */
  readonly sendBefore?: Date | null;
}

/** A delivery whose message was checked: what identifies it, and what its contract says. */
export interface Delivery {
  readonly messageId: string;
  readonly consumer: string;
  readonly name: string;
  readonly version: string;
  /** Lower-case hex SHA-256 of the content's UTF-8. */
  readonly contentHash: string;
}

/** A message whose document was written; nothing that happens to the caller's objects changes it. */
export interface FrozenMessage {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly destination: string | null;
  /** The JSON text that is sent: `{"id":…,"name":…,"version":…,"content":…}`, with the content as a JSON string. */
  readonly document: string;
  /** Lower-case hex SHA-256 of the document's UTF-8. */
  readonly documentSha256: string;
  readonly correlationId: string | null;
  readonly traceParent: string | null;
  readonly traceState: string | null;
  readonly sendDeadline: Micros | null;
}

/** A message, or something that belongs to it, can't be taken. Nothing was sent to the database. */
export class InvalidMessageError extends JobsError {
  readonly code = 'INVALID_MESSAGE';
  readonly field: string;
  readonly rule: string;

  constructor(field: string, rule: string) {
    super(`Invalid message: expected \`${field}\` to ${rule}.`);
    this.field = field;
    this.rule = rule;
  }
}

/** One difference between what is stored under a message's id and what came now. The content's values are never shown. */
export interface ContractDifference {
  readonly field: 'name' | 'version' | 'content' | 'destination';
  readonly stored?: string | null;
  readonly given?: string | null;
}

/** Another message has this id. What is stored is unchanged. */
export class MessageContractError extends JobsError {
  readonly code = 'MESSAGE_CONTRACT';
  readonly messageId: string;
  /** Where the other message is: `inbox`, it was received; `outbox`, it is to be sent or was. */
  readonly box: 'inbox' | 'outbox';
  readonly differences: readonly ContractDifference[];

  constructor(messageId: string, box: 'inbox' | 'outbox', differences: readonly ContractDifference[]) {
    super(`The ${box} has another message with the id "${messageId}": ${differences.map(describe).join(', ')}.`);
    this.messageId = messageId;
    this.box = box;
    this.differences = differences;
  }
}

/** @throws InvalidMessageError */
export function checkedDelivery(message: Message, consumer: string): Delivery {
  const { id, name, version, content } = checkedMessage(message);

  return Object.freeze({
    messageId: id,
    consumer: checkedText('consumer', consumer, 255),
    name,
    version,
    contentHash: sha256(content),
  });
}

/** Writes the document, once. @throws InvalidMessageError */
export function freezeMessage(message: Message, options: OutboxOptions = {}): FrozenMessage {
  const { id, name, version, content } = checkedMessage(message);
  const { destination, correlationId, traceParent, traceState, sendBefore } = checkedOptions(options);
  const document = JSON.stringify({ id, name, version, content });

  return Object.freeze({
    id,
    name,
    version,
    destination: checkedMetadata('destination', destination, 255),
    document,
    documentSha256: sha256(document),
    correlationId: checkedMetadata('correlationId', correlationId, 200, 255),
    traceParent: checkedMetadata('traceParent', traceParent, 128),
    traceState: checkedMetadata('traceState', traceState, 512),
    sendDeadline: checkedInstant(sendBefore),
  });
}

/**
 * How two messages of one id differ; none: they are the same. The correlation and trace of a message are not compared:
 * they say who added it, and the same message may be added again by another run.
 */
export function outboxDifferences(
  stored: Pick<FrozenMessage, 'name' | 'version' | 'destination' | 'documentSha256'>,
  given: Pick<FrozenMessage, 'name' | 'version' | 'destination' | 'documentSha256'>,
): ContractDifference[] {
  const differences = differing(['name', 'version', 'destination'], stored, given);
  const isSameContract = stored.name === given.name && stored.version === given.version;

  return isSameContract && stored.documentSha256 !== given.documentSha256
    ? [...differences, { field: 'content' }]
    : differences;
}

/** How a delivery differs from the receipt of the same message; none: it is a redelivery. */
export function inboxDifferences(
  stored: Pick<Delivery, 'name' | 'version' | 'contentHash'>,
  given: Pick<Delivery, 'name' | 'version' | 'contentHash'>,
): ContractDifference[] {
  const differences = differing(['name', 'version'], stored, given);

  return stored.contentHash === given.contentHash ? differences : [...differences, { field: 'content' }];
}

function differing<F extends 'name' | 'version' | 'destination'>(
  fields: readonly F[],
  stored: Readonly<Record<F, string | null>>,
  given: Readonly<Record<F, string | null>>,
): ContractDifference[] {
  return fields
    .filter(field => stored[field] !== given[field])
    .map(field => ({ field, stored: stored[field], given: given[field] }));
}

function checkedMessage(message: unknown): Message {
  if (typeof message !== 'object' || message === null) {
    throw new InvalidMessageError('message', 'be an object with `id`, `name`, `version` and `content`');
  }
  const { id, name, version, content } = message as Message;
  if (typeof content !== 'string' || !content.isWellFormed()) {
    throw new InvalidMessageError('content', 'be well-formed text');
  }

  return {
    id: checkedText('id', id, 255),
    name: checkedText('name', name, 255),
    version: checkedText('version', version, 64),
    content,
  };
}

const knownOptions: ReadonlyArray<keyof OutboxOptions> = [
  'destination', 'correlationId', 'traceParent', 'traceState', 'sendBefore',
]; // prettier-ignore

function checkedOptions(options: OutboxOptions): OutboxOptions {
  try {
    return checkKnown(options, knownOptions);
  } catch (error) {
    throw error instanceof InvalidOptionError ? new InvalidMessageError(error.option, error.rule) : error;
  }
}

function checkedText(field: string, value: unknown, max: number): string {
  if (typeof value !== 'string' || value.length === 0 || value.length > max || !isStorable(value)) {
    throw new InvalidMessageError(field, `be well-formed text of 1 to ${max} characters without NUL`);
  }

  return value;
}

function checkedMetadata(field: string, value: unknown, max: number, maxBytes = Infinity): string | null {
  if (value === undefined || value === null) {
    return null;
  }
  if (typeof value !== 'string' || value.length > max || Buffer.byteLength(value, 'utf8') > maxBytes) {
    const bytes = maxBytes === Infinity ? '' : ` and ${maxBytes} bytes as UTF-8`;
    throw new InvalidMessageError(field, `be text of at most ${max} characters${bytes}`);
  }
  if (!isStorable(value)) {
    throw new InvalidMessageError(field, 'be well-formed text without NUL');
  }

  return value;
}

function checkedInstant(instant: unknown): Micros | null {
  if (instant === undefined || instant === null) {
    return null;
  }
  const micros = instantOf(instant);
  if (micros === null) {
    throw new InvalidMessageError('sendBefore', 'be a valid Date from 1970 to 2255');
  }

  return micros;
}

function describe({ field, stored, given }: ContractDifference): string {
  return field === 'content' ? 'its content differs' : `its ${field} is ${shown(stored)}, not ${shown(given)}`;
}

function shown(value: string | null | undefined): string {
  return value == null ? 'none' : `'${value.slice(0, 100)}'`;
}
