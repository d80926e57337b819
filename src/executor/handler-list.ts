import { InvalidOptionError } from '../core/errors.ts';
import type { RegisteredHandler } from '../core/handler.ts';

/** The handlers of one executor, by name and version. */
export class HandlerList<Em> {
  readonly #byDefinition = new Map<string, RegisteredHandler<Em>>();

  /** @throws InvalidOptionError for an empty list, something else than a handler, or two handlers of one name and version */
  constructor(handlers: ReadonlyArray<RegisteredHandler<Em>>) {
    if (!Array.isArray(handlers) || handlers.length === 0) {
      throw new InvalidOptionError('handlers', 'have at least one handler', handlers);
    }

    for (const handler of handlers as ReadonlyArray<RegisteredHandler<Em> | undefined>) {
      this.#add(handler);
    }
  }

  get definitions(): ReadonlyArray<{ readonly name: string; readonly version: string }> {
    return [...this.#byDefinition.values()].map(({ definition: { name, version } }) => ({ name, version }));
  }

  has(definition: { readonly name: string; readonly version: string }): boolean {
    return this.#byDefinition.has(keyOf(definition));
  }

  of(attempt: { readonly name: string; readonly version: string }): RegisteredHandler<Em> {
    const handler = this.#byDefinition.get(keyOf(attempt));
    if (handler === undefined) {
      throw new Error(`The store started "${attempt.name}" version "${attempt.version}", which was not asked for.`);
    }

    return handler;
  }

  #add(handler: RegisteredHandler<Em> | undefined): void {
    if (typeof handler?.run !== 'function' || typeof handler.definition?.parse !== 'function') {
      throw new InvalidOptionError('handlers', 'have only what `jobs.handler()` made', handler);
    }

    const key = keyOf(handler.definition);
    if (this.#byDefinition.has(key)) {
      throw new InvalidOptionError('handlers', 'have one handler for each name and version', key);
    }
    this.#byDefinition.set(key, handler);
  }
}

/** As JSON, so that no name and version run together. */
function keyOf({ name, version }: { readonly name: string; readonly version: string }): string {
  return JSON.stringify([name, version]);
}
