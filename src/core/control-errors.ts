import { describeKey, JobsError } from './errors.ts';
import type { JobKey } from './job-key.ts';

/** A job was to be repaired with the payload of another definition: its handler would not know it. The job is unchanged. */
export class RepairMismatchError extends JobsError {
  readonly code = 'REPAIR_MISMATCH';
  readonly key: JobKey;
  readonly stored: DefinitionName;
  readonly repaired: DefinitionName;

  constructor(key: JobKey, stored: DefinitionName, repaired: DefinitionName) {
    super(
      `Job ${describeKey(key)} is a ${stored.name} of version ${stored.version} and can't be repaired with a ` +
        `${repaired.name} of version ${repaired.version}: make the repaired payload with its own definition.`,
    );
    this.key = key;
    this.stored = { name: stored.name, version: stored.version };
    this.repaired = { name: repaired.name, version: repaired.version };
  }
}

interface DefinitionName {
  readonly name: string;
  readonly version: string;
}

/** The database skips an update of a job that may be made; a trigger or rule of the host's is the usual reason. */
export class UpdateRefusedError extends JobsError {
  readonly code = 'UPDATE_REFUSED';
  readonly key: JobKey;

  constructor(key: JobKey) {
    super(
      `The database didn't update job ${describeKey(key)}, though nothing in its row speaks against it; is there a trigger or a rule ` +
        'on its table?',
    );
    this.key = key;
  }
}
