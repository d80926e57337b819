/** `true` where the two types are the same one, else `false`. */
export type SameType<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** `expectType<string>()(value)` compiles where the value's type is this one exactly. */
export declare function expectType<Expected>(): <const Actual>(
  value: Actual,
  ...same: SameType<Actual, Expected> extends true ? [] : [expected: Expected]
) => void;
