import fs from 'node:fs';
import path from 'node:path';

/**
 * Which process runs which job right now, in files, so that it holds whatever the database goes through. A file that a killed
 * process left behind counts for nothing.
 */
export class LiveJobs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    fs.mkdirSync(folder, { recursive: true });
  }

  /** False when another living process, or this one, is at it. */
  begin(jobId: string): boolean {
    const file = this.#file(jobId);
    const owner = Number(read(file) ?? 0);
    fs.writeFileSync(file, String(process.pid));

    return owner === 0 || !isAlive(owner);
  }

  end(jobId: string): void {
    fs.rmSync(this.#file(jobId), { force: true });
  }

  #file(jobId: string): string {
    return path.join(this.#folder, encodeURIComponent(jobId));
  }
}

function read(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
