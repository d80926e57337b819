import type { EntityManager, EntityName } from '@mikro-orm/core';
import { InboxMessage, Job, JobAttempt, OutboxMessage } from '../../src/index.ts';
import { Order, Payment, ReceiptLine } from './entities.ts';

type Cell = string | number | null;
type Row = Readonly<Record<string, Cell>>;

/** What is in the database, for a person: no times and no random ids, so that two runs can be compared. */
export async function report(em: EntityManager): Promise<string> {
  const tables = [
    await table(em, 'Orders', Order, row => ({
      order: row.id,
      customer: row.customer,
      by: row.payBy,
      cents: row.cents,
    })),
    await table(em, 'Receipt lines', ReceiptLine, row => ({ order: row.order, text: row.text, cents: row.cents })),
    await table(em, 'Payments', Payment, row => ({ order: row.order, by: row.payBy, cents: row.cents })),
    await table(em, 'Jobs', Job, row => ({
      id: row.id,
      name: row.name,
      state: row.state,
      starts: row.attemptCount,
      reason: row.failureReason ?? row.cancelReason,
      result: row.resultRef,
    })),
    await table(em, 'Attempts', JobAttempt, row => ({
      job: row.jobId,
      start: row.ordinal,
      state: row.state,
      reason: row.failureReason,
      error: firstLine(row.error),
    })),
    await table(em, 'Inbox', InboxMessage, row => ({
      message: row.messageId,
      name: row.name,
      state: row.state,
      failures: row.failureCount,
      error: firstLine(row.lastError),
    })),
    await table(em, 'Outbox', OutboxMessage, row => ({ message: row.id, name: row.name, state: row.state })),
  ];

  return tables.join('\n\n');
}

async function table<T extends object>(
  em: EntityManager,
  title: string,
  entity: EntityName<T>,
  toRow: (entity: T) => Row,
): Promise<string> {
  const rows = (await em.fork().findAll(entity)).map(found => toRow(found as T));
  const head = Object.keys(rows[0] ?? {});
  const lines = rows.map(row => head.map(column => `${row[column] ?? '-'}`));
  // Here and not by the database: each sorts in a way of its own.
  lines.sort((a, b) => (a.join('\0') < b.join('\0') ? -1 : 1));

  return [`${title} (${rows.length})`, ...aligned([head, ...lines])].join('\n');
}

function aligned(lines: string[][]): string[] {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map(cells => cells[column]!.length)));

  return lines.map(cells => `  ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd());
}

function firstLine(text: string | null): string | null {
  return text === null ? null : text.split('\n')[0]!;
}
