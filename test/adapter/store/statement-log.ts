import type { OrmOptions } from '../../support/orm.ts';

/** What MikroORM sends, values and all, as its own logger has it. */
export class StatementLog {
  readonly #lines: string[] = [];

  /** For the ORM whose statements are to be seen. */
  readonly options: OrmOptions = {
    debug: ['query', 'query-params'],
    colors: false,
    logger: message => void this.#lines.push(message),
  };

  /** The statements of one call, in their order; not the notification of an earlier call, which follows that by itself. */
  async of(call: () => Promise<unknown>): Promise<string[]> {
    this.#lines.length = 0;
    await call();

    return this.#lines
      .splice(0)
      .map(line => line.replace(/^\[query\] /, '').replace(/ \[took .*$/s, ''))
      .filter(statement => !statement.startsWith('select pg_notify('));
  }
}
