import { RepairMismatchError } from './control-errors.ts';
import type { JobSnapshot } from './snapshot.ts';
import type { Resurrection } from './store.ts';

/** @throws RepairMismatchError when a job is to be repaired with the payload of another definition */
export function refuseForeignRepair(
  job: Pick<JobSnapshot, 'scope' | 'id' | 'name' | 'version'>,
  repair: Resurrection['repair'],
): void {
  if (repair !== undefined && (repair.name !== job.name || repair.version !== job.version)) {
    throw new RepairMismatchError({ scope: job.scope, id: job.id }, job, repair);
  }
}
