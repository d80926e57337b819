import type { EntityManager } from '@mikro-orm/core';
import { nativeClientOf } from './native-client.ts';
import {
  isLeftAlone,
  kyselyConnectionOf,
  onConnection,
  type KyselyConnection,
  type PreparedStatements,
  type Sending,
} from './prepared-statements.ts';
import type { Row } from './session.ts';
import type { Statement, Value } from './sql/statement.ts';

/** What we use of better-sqlite3. */
interface Database {
  readonly constructor: { readonly name: string };
  prepare(sql: string): CompiledStatement;
}

interface CompiledStatement {
  readonly reader: boolean;
  all(values: readonly unknown[]): Row[];
  run(values: readonly unknown[]): unknown;
}

/** A claim of many lanes has a text of its own for each number of them. */
const maxStatements = 100;

/** Keeps statements compiled, with better-sqlite3 on MikroORM 7.2 and later: SQLite compiles for longer than it executes. */
export class SqlitePreparedStatements implements PreparedStatements {
  readonly #em: EntityManager;
  readonly #connection: KyselyConnection | null;
  /** By the database that they were compiled for: a closed ORM may connect again. */
  readonly #compiled = new WeakMap<Database, Map<string, CompiledStatement>>();

  constructor(em: EntityManager) {
    this.#em = em;
    this.#connection = kyselyConnectionOf(em);
  }

  async send(statement: Statement, sending: Sending): Promise<Row[]> {
    const database = isLeftAlone(this.#em, statement) ? await this.#database() : null;
    if (database === null) {
      return sending.asText();
    }

    return onConnection(this.#em, this.#connection!, statement, sending, async () => {
      const compiled = this.#compile(database, statement.sql);
      const values = statement.params.map(bound);

      return compiled.reader ? compiled.all(values) : (compiled.run(values), []);
    });
  }

  async #database(): Promise<Database | null> {
    const client = await nativeClientOf(this.#em);
    return isBetterSqlite(client) ? client : null;
  }

  #compile(database: Database, sql: string): CompiledStatement {
    const known = this.#compiled.get(database) ?? new Map<string, CompiledStatement>();
    let compiled = known.get(sql);

    if (compiled === undefined) {
      if (known.size === maxStatements) {
        known.clear();
      }
      compiled = database.prepare(sql);
      known.set(sql, compiled);
      this.#compiled.set(database, known);
    }

    return compiled;
  }
}

function isBetterSqlite(client: unknown): client is Database {
  const { constructor, prepare } = (client ?? {}) as Partial<Database>;
  return constructor?.name === 'Database' && typeof prepare === 'function';
}

/** It binds no booleans. */
function bound(value: Value): unknown {
  return typeof value === 'boolean' ? Number(value) : value;
}
