import type { MemoryDatabase } from './memory-database.ts';

/** How many more jobs of each queue may run, while one call claims. */
export class QueueRooms {
  readonly #database: MemoryDatabase;
  readonly #rooms = new Map<string, number>();

  constructor(database: MemoryDatabase) {
    this.#database = database;
  }

  isPaused(queue: string): boolean {
    return this.#database.queues.get(queue)?.isPaused === true;
  }

  hasRoom(queue: string): boolean {
    return this.#roomOf(queue) > 0;
  }

  take(queue: string): void {
    this.#rooms.set(queue, this.#roomOf(queue) - 1);
  }

  #roomOf(queue: string): number {
    const room = this.#rooms.get(queue) ?? this.#count(queue);
    this.#rooms.set(queue, room);

    return room;
  }

  #count(queue: string): number {
    const maxRunning = this.#database.queues.get(queue)?.maxRunning ?? null;

    return maxRunning === null
      ? Infinity
      : maxRunning - this.#database.jobs.inState('running').filter(job => job.queue === queue).length;
  }
}
