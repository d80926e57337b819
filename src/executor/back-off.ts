/** Delays that double from one failure to the next, up to a limit, and begin anew after a success. */
export class BackOff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #failures = 0;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
  }

  get hasFailed(): boolean {
    return this.#failures > 0;
  }

  next(): number {
    return Math.min(this.#firstMs * 2 ** this.#failures++, this.#longestMs);
  }

  reset(): void {
    this.#failures = 0;
  }
}
