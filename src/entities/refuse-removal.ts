import { JobsError } from '../core/errors.ts';

/** A row of this library was given to `em.remove()`. Nothing of that flush was written. */
export class ReadOnlyEntityError extends JobsError {
  readonly code = 'READ_ONLY_ENTITY';
  readonly entity: string;

  constructor(entity: string) {
    super(
      `${entity} is for reading: only mikro-orm-jobs writes its rows. What has finished is pruned after its retention.`,
    );
    this.entity = entity;
  }
}

/** `readonly` makes a flush pass over new and changed entities, but not over removed ones. */
export function refuseRemoval({ meta }: { readonly meta: { readonly className: string } }): never {
  throw new ReadOnlyEntityError(meta.className);
}
