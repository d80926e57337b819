/** What identifies a job: its scope, and its id within it. */
export interface JobKey {
  /** Isolation chosen by the host, a tenant for example; compared byte for byte. `''` when none was given. */
  readonly scope: string;
  /** 1 to 128 printable ASCII characters. */
  readonly id: string;
}
