/** Makes several writes one: it knows how to undo each of them until all have been made. */
export class Journal {
  #undo: Array<() => void> = [];

  record(undo: () => void): void {
    this.#undo.push(undo);
  }

  /** All of the writes of `work`, or none. It can't be interrupted, as it awaits nothing, and isn't called inside itself. */
  atomically<T>(work: () => T): T {
    this.#undo = [];

    try {
      return work();
    } catch (error) {
      this.#undo.reverse().forEach(undo => undo());
      throw error;
    } finally {
      this.#undo = [];
    }
  }
}
