import { defineEntity, p, type EntitySchema, type PrimaryKeyProp } from '@mikro-orm/core';
import { createIndex } from './create-index.ts';
import { refuseRemoval } from './refuse-removal.ts';

/** One parent that a job waits for, in the same scope. For reading. */
class DurableJobDependency {
  declare [PrimaryKeyProp]?: ['scopeHash', 'jobId', 'parentId'];

  /** First part of both jobs' keys. */
  scopeHash!: string;
  /** Second part of the waiting job's key. */
  jobId!: string;
  /** Second part of the parent's key. */
  parentId!: string;
}

export { DurableJobDependency as JobDependency };

/** Written with the waiting job and pruned with it; never updated, and without CHECKs, as nothing but the key is in it. */
export const jobDependencySchema: EntitySchema<DurableJobDependency> = defineEntity<DurableJobDependency>({
  class: DurableJobDependency,
  name: 'DurableJobDependency',
  tableName: 'durable_job_dependency',
  readonly: true,
  hooks: { beforeDelete: [refuseRemoval] },
  properties: {
    scopeHash: p.string().fieldName('scope_hash').length(64).primary(),
    jobId: p.string().fieldName('job_id').length(128).primary(),
    parentId: p.string().fieldName('parent_id').length(128).primary(),
  },
  indexes: [
    // resolve and prune: the children of a parent. With the child in it, or SQLite prefers the key and reads the whole scope
    createIndex('durable_job_dependency_resolve', '(scope_hash, parent_id, job_id)'),
  ],
});
