/** Calls `work` for 0, 1, … below `count`, so many at once. */
export async function inParallel(workers, count, work) {
  let next = 0;
  await Promise.all(Array.from({ length: workers }, take));

  async function take() {
    while (next < count) await work(next++);
  }
}
