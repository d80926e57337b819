import type { EntityManager } from '@mikro-orm/core';
import { inOurTerms, runSql } from '../entities/run-sql.ts';
import type { Kysely, PreparedStatements, Sending } from './prepared-statements.ts';
import type { Row, Run } from './session.ts';
import type { Statement } from './sql/statement.ts';

/** MikroORM 7's connections: a Kysely, which lends out one of its own without a transaction. */
interface Connections {
  ensureConnection(): Promise<void>;
  getClient?(): { connection(): { execute<T>(work: (connection: unknown) => Promise<T>): Promise<T> } };
}

/** Sends statements in the given transaction, or else on any connection. */
export function runOn(em: EntityManager, transaction: unknown, prepared: PreparedStatements | null): Run {
  return statement =>
    send(statement, prepared, {
      on: transaction as Kysely | undefined,
      asText: () => runSql(em, transaction, statement.sql, statement.params),
    });
}

/** Sends statements on any connection, and calls `begun` when it has it; with MikroORM 6 at once. */
export function runOnceBegun(em: EntityManager, begun: () => void, prepared: PreparedStatements | null): Run {
  return statement =>
    send(statement, prepared, {
      begun,
      asText: () => onLentConnection(em, begun, connection => runSql(em, connection, statement.sql, statement.params)),
    });
}

function send(statement: Statement, prepared: PreparedStatements | null, sending: Sending): Promise<Row[]> {
  return statement.isPrepared && prepared !== null
    ? inOurTerms(() => prepared.send(statement, sending))
    : sending.asText();
}

async function onLentConnection<T>(
  em: EntityManager,
  begun: () => void,
  work: (connection: unknown) => Promise<T>,
): Promise<T> {
  const connections = em.getConnection('write') as unknown as Connections;
  if (connections.getClient === undefined) {
    begun();
    return work(undefined);
  }

  await connections.ensureConnection();
  const lender = connections.getClient().connection();

  return lender.execute(async connection => {
    begun();
    return work(connection);
  });
}
