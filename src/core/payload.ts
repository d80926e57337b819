import { InvalidSubmissionError } from './errors.ts';
import { PayloadInvalidError } from './handler-errors.ts';
import { describeIssues, type StandardSchema } from './standard-schema.ts';

/**
 * The JSON text of a value, written once: getters and `toJSON` run at this call and at no other. What JSON would silently
 * change or drop at the top (undefined, NaN, a function) is refused, and so are NaN and invalid Dates anywhere inside.
 */
export function payloadText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseChanged);
  } catch (error) {
    if (error instanceof InvalidSubmissionError) {
      throw error;
    }
    throw new InvalidSubmissionError('payload', 'be JSON: no BigInt, no cycle, no `toJSON` that throws', {
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
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new InvalidSubmissionError('payload', `have finite numbers only; \`${key}\` is ${value}`);
  }
  // An invalid Date becomes null, and a schema that coerces makes 1970 of it.
  if (value === null && Object.getOwnPropertyDescriptor(this, key)?.value instanceof Date) {
    throw new InvalidSubmissionError('payload', `have valid Dates only; \`${key}\` is none`);
  }

  return value;
}
