// What may be defined and submitted. Compiled by both type checks, never run.
import { z } from 'zod';
import {
  defineJob,
  type JobDefinition,
  type Payload,
  type PayloadInput,
  type StandardSchema,
  type Submission,
} from '../../src/index.ts';
import { sendInvoice, sendInvoiceV1 } from './hosts.ts';
import { expectType, type SameType } from './same-type.ts';

const input: PayloadInput<typeof sendInvoice> = { invoiceId: 'x', due: '2026-01-01' };

export function payloadTypes(output: Payload<typeof sendInvoice>): void {
  expectType<{ invoiceId: string; due: Date; copies: number }>()(output);
  expectType<typeof output>()(sendInvoice.parse('{}'));
  // @ts-expect-error a handler gets the schema's output, not its input
  output = input;
}

export function types(): void {
  void (true satisfies SameType<PayloadInput<typeof sendInvoiceV1>, { id: number }>);
  void (true satisfies SameType<Payload<typeof sendInvoiceV1>, { id: number }>);
  // @ts-expect-error this test sees a difference
  void (true satisfies SameType<{ id: number }, { readonly id: number }>);
  // @ts-expect-error this one, too
  expectType<{ id: string }>()({ id: 5 });
}

export function names(): void {
  const submission = sendInvoice.create(input);
  const forInvoices = (given: Submission<'invoice.send'>) => given.id;
  expectType<Submission<'invoice.send'>>()(submission);
  expectType<JobDefinition<{ id: number }, { id: number }, 'invoice.send'>>()(sendInvoiceV1);
  forInvoices(submission);
  // @ts-expect-error a submission of another definition
  forInvoices(defineJob<null>()({ name: 'mail.send' }).create(null));
}

export function payloads(): void {
  sendInvoice.create(input);
  sendInvoice.create({ invoiceId: 'x', due: new Date(), copies: 2 });
  sendInvoice.createFromJson('{"invoiceId":"x","due":"2026-01-01"}');
  defineJob<null>()({ name: 'a' }).create(null);
  defineJob<string>()({ name: 'a' }).create('x');
  defineJob<readonly number[]>()({ name: 'a' }).create([1]);
  // @ts-expect-error another type
  sendInvoice.create({ invoiceId: 1, due: '2026-01-01' });
  // @ts-expect-error a member is missing
  sendInvoice.create({ invoiceId: 'x' });
  // @ts-expect-error a member too many
  sendInvoice.create({ ...input, copys: 2 });
  // @ts-expect-error no payload
  sendInvoice.create();
  // @ts-expect-error the payload of the other version
  sendInvoiceV1.create(input);
  // @ts-expect-error JSON is text
  sendInvoice.createFromJson(input);
}

export function identities(given: string | undefined, instant: Date | null): void {
  sendInvoice.create(input, {});
  sendInvoice.create(input, { id: 'a' });
  sendInvoice.create(input, { id: 'a', notBefore: new Date() });
  sendInvoice.create(input, { notBefore: new Date() });
  sendInvoice.create(input, { delay: '30s' });
  sendInvoice.create(input, { delay: 1500 });
  sendInvoice.create(input, { id: given });
  sendInvoice.create(input, { id: given, notBefore: instant });
  sendInvoice.create(input, { id: undefined, notBefore: undefined, delay: undefined });
  // @ts-expect-error an id with a relative delay
  sendInvoice.create(input, { id: 'a', delay: '30s' });
  // @ts-expect-error an id that may be there, with a relative delay
  sendInvoice.create(input, { id: given, delay: '30s' });
  // @ts-expect-error an instant with a relative delay
  sendInvoice.create(input, { notBefore: new Date(), delay: '30s' });
  // @ts-expect-error not a duration
  sendInvoice.create(input, { delay: '30 parsecs' });
  // @ts-expect-error an instant is a Date
  sendInvoice.create(input, { notBefore: '2026-01-01' });
  // @ts-expect-error an id is text
  sendInvoice.create(input, { id: 5 });
  // @ts-expect-error an id is never null
  sendInvoice.create(input, { id: null });
}

export function submissionOptions(): void {
  sendInvoice.create(input, {
    scope: 'acme', queue: 'mail', priority: 5, maxAttempts: 3, timeout: '30s', onInterrupt: 'requeue', uniqueKey: 'x', metadata: { by: 'ann' },
    retry: { base: '2s', factor: 2, cap: '10m', jitter: 0.2, lifetime: '1d' },
  }); // prettier-ignore
  sendInvoice.create(input, { retry: false });
  sendInvoice.create(input, { scope: undefined, retry: undefined });
  // @ts-expect-error an unknown option
  sendInvoice.create(input, { maxAttempt: 3 });
  sendInvoice.create(input, { after: [sendInvoice.create(input), { scope: '', id: 'invoice-7' }] });
  // @ts-expect-error a parent is a job, named by scope and id
  sendInvoice.create(input, { after: ['invoice-7'] });
  // @ts-expect-error a list, also of one
  sendInvoice.create(input, { after: { scope: '', id: 'invoice-7' } });
  // @ts-expect-error a tenant that is null must not share the scope ''
  sendInvoice.create(input, { scope: null });
  // @ts-expect-error a priority is a number
  sendInvoice.create(input, { priority: 'high' });
  // @ts-expect-error `retry: true` says nothing
  sendInvoice.create(input, { retry: true });
  // @ts-expect-error a misspelt retry
  sendInvoice.create(input, { retry: { bas: '1s' } });
  // @ts-expect-error hold or requeue
  sendInvoice.create(input, { onInterrupt: 'retry' });
  // @ts-expect-error labels are texts
  sendInvoice.create(input, { metadata: { attempt: 1 } });
}

export function submissions(): void {
  const submission = sendInvoice.create(input);
  // @ts-expect-error frozen
  submission.id = 'b';
  // @ts-expect-error frozen
  submission.payload = '{}';
}

export function definitions(): void {
  defineJob<null>()({
    name: 'a', version: '2', queue: 'q', priority: 1, maxAttempts: 3, retry: false, timeout: 500, onInterrupt: 'hold',
  }); // prettier-ignore
  // @ts-expect-error no name
  defineJob<null>()({});
  // @ts-expect-error a version is text
  defineJob<null>()({ name: 'a', version: 2 });
  // @ts-expect-error an unknown option
  defineJob<null>()({ name: 'a', maxAttempt: 3 });
  // @ts-expect-error the schema belongs into the first call
  defineJob<null>()({ name: 'a', schema: z.null() });
  // @ts-expect-error neither a schema nor a type
  defineJob({ name: 'a' });
  // @ts-expect-error no Standard Schema
  defineJob({ name: 'a', schema: { type: 'object' } });
  // @ts-expect-error frozen
  sendInvoice.name = 'b';
}

export function schemas(typed: StandardSchema<string, number>, unsaid: SchemaWithoutTypes): void {
  const counted = defineJob({ name: 'a', schema: typed });
  expectType<JobDefinition<string, number, 'a'>>()(counted);
  const untyped = defineJob({ name: 'a', schema: unsaid });
  expectType<JobDefinition<unknown, unknown, 'a'>>()(untyped);
  const union = defineJob({ name: 'a', schema: z.union([z.string(), z.object({ id: z.number() })]) });
  expectType<string | { id: number }>()(union.parse(''));
  const piped = defineJob({ name: 'a', schema: z.string().transform(text => text.length) });
  expectType<JobDefinition<string, number, 'a'>>()(piped);
}

interface SchemaWithoutTypes {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: number };
  };
}
