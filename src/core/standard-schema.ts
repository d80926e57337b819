/**
 * The part of the Standard Schema interface that we use, as its specification allows: any library that implements it
 * (zod, valibot, arktype…) fits, and none is a dependency. https://standardschema.dev
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: ReadonlyArray<StandardIssue> };

export interface StandardIssue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** `unknown` for a schema that doesn't say its types, as the standard allows. */
export type SchemaInput<S> = SchemaTypes<S> extends { readonly input: infer I } ? I : unknown;
export type SchemaOutput<S> = SchemaTypes<S> extends { readonly output: infer O } ? O : unknown;
type SchemaTypes<S> = S extends { readonly '~standard': { readonly types?: infer T } } ? NonNullable<T> : unknown;

/** `path.to.field: message; …`, at most five of them. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  return issues.slice(0, 5).map(describe).join('; ');
}

function describe({ message, path }: StandardIssue): string {
  const steps = path?.map(step => String(typeof step === 'object' ? step.key : step)) ?? [];
  return steps.length === 0 ? message : `${steps.join('.')}: ${message}`;
}
