import { types } from 'node:util';
import { InvalidSubmissionError } from './errors.ts';
import { PayloadInvalidError } from './handler-errors.ts';
import { describeIssues, type StandardSchema } from './standard-schema.ts';

/**
 * The JSON text of a payload. Refused, beside what `jsonText` refuses, is what JSON would silently make null or `{}` of: undefined,
 * functions and symbols in a list, Maps, promises and the like. As members of an object the former are left out.
 */
export function payloadText(value: unknown): string {
  return jsonText(value, refuseLost);
}

/**
 * The JSON text of a value, written once: getters and `toJSON` run at this call and at no other. What is no JSON at the top
 * (undefined, a function, a symbol) is refused, and so are NaN and invalid Dates anywhere inside.
 */
export function jsonText(value: unknown, replacer = refuseChanged): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, replacer);
  } catch (error) {
    if (error instanceof InvalidSubmissionError) {
      throw error;
    }
    throw new InvalidSubmissionError('payload', 'be JSON: no BigInt, no cycle, not too deep, no `toJSON` that throws', {
      cause: error,
    });
  }

  if (text === undefined) {
    throw new InvalidSubmissionError('payload', 'be JSON: not undefined, a function or a symbol');
  }

  return text;
}

/** Raw JSON text, kept byte for byte, so that numbers beyond 2^53 survive. */
export function checkedJson(json: unknown): string {
  try {
    if (typeof json === 'string') {
      JSON.parse(json);
      return json;
    }
  } catch (error) {
    throw new InvalidSubmissionError('payload', 'be JSON text', { cause: error });
  }

  throw new InvalidSubmissionError('payload', 'be JSON text');
}

/** Refuses at submission what the handler could not be given: the schema sees the text parsed back, as it will then. */
export function checkAgainstSchema(text: string, schema: StandardSchema | undefined): void {
  if (schema === undefined) {
    return;
  }

  let result;
  try {
    result = validate(text, schema);
  } catch (error) {
    throw new InvalidSubmissionError('payload', 'fit the schema of its definition, which threw', { cause: error });
  }
  if (isPromise(result)) {
    result.then(undefined, () => {});
    throw new InvalidSubmissionError('schema', 'be synchronous: a submission is made without waiting');
  }
  if (result.issues !== undefined) {
    throw new InvalidSubmissionError('payload', `fit the schema of its definition (${describeIssues(result.issues)})`);
  }
}

/** What the handler gets: the stored text parsed, and what the schema makes of it. @throws PayloadInvalidError */
export function parsePayload(text: string, schema: StandardSchema | undefined): unknown {
  let result;
  try {
    if (schema === undefined) {
      return JSON.parse(text);
    }
    result = validate(text, schema);
  } catch (error) {
    throw new PayloadInvalidError('The stored payload could not be read.', { cause: error });
  }

  if (isPromise(result)) {
    result.then(undefined, () => {});
    throw new PayloadInvalidError('The schema of the definition is asynchronous.');
  }
  if (result.issues !== undefined) {
    throw new PayloadInvalidError(`The stored payload does not fit the schema: ${describeIssues(result.issues)}`);
  }

  return result.value;
}

function validate(text: string, schema: StandardSchema) {
  return schema['~standard'].validate(JSON.parse(text));
}

/** By what it can do: a promise of another realm is no `Promise` of ours. */
function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>>).then === 'function';
}

function refuseChanged(this: unknown, key: string, value: unknown): unknown {
  const plain = types.isNumberObject(value) ? Number(value) : value;
  if (typeof plain === 'number' && !Number.isFinite(plain)) {
    throw new InvalidSubmissionError('payload', `have finite numbers only; ${placeOf(key)} is ${plain}`);
  }
  // An invalid Date becomes null, and a schema that coerces makes 1970 of it.
  if (value === null && types.isDate(Object.getOwnPropertyDescriptor(this, key)?.value)) {
    throw new InvalidSubmissionError('payload', `have valid Dates only; ${placeOf(key)} is none`);
  }

  return value;
}

/** The name of the property or the index in the list; the payload itself has the empty one. */
function placeOf(key: string): string {
  return key === '' ? 'the payload' : `\`${key}\``;
}

function refuseLost(this: unknown, key: string, value: unknown): unknown {
  if (Array.isArray(this) && ['undefined', 'function', 'symbol'].includes(typeof value)) {
    throw new InvalidSubmissionError('payload', `have no undefined in a list; \`${key}\` is ${typeof value}`);
  }
  if (typeof value === 'object' && withoutJson.some(isOne => isOne(value))) {
    const tag = Object.prototype.toString.call(value);
    throw new InvalidSubmissionError('payload', `have values that JSON keeps; ${placeOf(key)} is ${tag}`);
  }

  return refuseChanged.call(this, key, value);
}

/** JSON writes them as an empty object, or as one of indexes. */
const withoutJson: ReadonlyArray<(value: unknown) => boolean> = [
  types.isMap,
  types.isSet,
  types.isWeakMap,
  types.isWeakSet,
  types.isPromise,
  types.isNativeError,
  types.isRegExp,
  types.isArrayBufferView,
  types.isAnyArrayBuffer,
  types.isSymbolObject,
];
