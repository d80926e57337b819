/** What identifies a job: its scope, and its id within it. */
export interface JobKey {
  /** Isolation chosen by the host, a tenant for example; compared byte for byte. `''` when none was given. */
  readonly scope: string;
  /** 1 to 128 printable ASCII characters. */
  readonly id: string;
}

/** One text for a key, with the length of the scope, so that "a"+"bc" and "ab"+"c" differ. */
export function keyText({ scope, id }: JobKey): string {
  return `${scope.length}:${scope}${id}`;
}
