import type { EntityManager } from '@mikro-orm/core';
import { EntitiesNotRegisteredError } from '../core/errors.ts';
import {
  IdempotencyClaim,
  Job,
  JobAttempt,
  JobDependency,
  JobExecutor,
  JobQueue,
  RecurringJob,
  jobEntities,
} from '../entities/index.ts';
import { tableName } from '../entities/table-name.ts';
import { Raw } from './sql/statement.ts';

/** The tables' names as SQL writes them, with the schema that an EntityManager writes to. */
export interface Tables {
  readonly job: Raw;
  readonly attempt: Raw;
  readonly executor: Raw;
  readonly dependency: Raw;
  readonly queue: Raw;
  readonly recurring: Raw;
  readonly idempotency: Raw;
}

/** By the ORM's metadata and the schema: every stage asks for them, and a host with a schema for each tenant has some hundreds. */
const known = new WeakMap<object, Map<string, Tables>>();

export function tablesOf(em: EntityManager): Tables {
  const metadata = em.getMetadata();
  const bySchema = known.get(metadata) ?? new Map<string, Tables>();
  known.set(metadata, bySchema);

  const schema = JSON.stringify([em.schema, em.config.get('schema')]);
  const tables = bySchema.get(schema) ?? namedIn(em);
  bySchema.set(schema, tables);

  return tables;
}

function namedIn(em: EntityManager): Tables {
  return {
    job: new Raw(tableName(em, Job)),
    attempt: new Raw(tableName(em, JobAttempt)),
    executor: new Raw(tableName(em, JobExecutor)),
    queue: new Raw(tableName(em, JobQueue)),
    recurring: new Raw(tableName(em, RecurringJob)),
    idempotency: new Raw(tableName(em, IdempotencyClaim)),
    dependency: new Raw(tableName(em, JobDependency)),
  };
}

/** @throws EntitiesNotRegisteredError naming what is missing in the ORM's `entities` */
export function checkRegistered(em: EntityManager): void {
  const metadata = em.getMetadata();
  const missing = jobEntities.map(schema => schema.meta.className).filter(name => !isKnown(name));
  if (missing.length > 0) {
    throw new EntitiesNotRegisteredError(missing);
  }

  function isKnown(name: string): boolean {
    return [...metadata].some(meta => meta.className === name);
  }
}
