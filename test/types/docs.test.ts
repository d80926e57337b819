import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.join(import.meta.dirname, '../..');
const documents = [
  'README.md',
  'docs/jobs.md',
  'docs/executor.md',
  'docs/unit-of-work.md',
  'docs/continuations.md',
  'docs/observability.md',
  'docs/operations.md',
  'docs/recurring.md',
  'docs/testing.md',
  'docs/idempotency.md',
];

/** What the documents take for granted: the host's own, and what an earlier document defined. A document's own names hide them. */
const globals = `
  declare const orm: import('@mikro-orm/postgresql').MikroORM;
  declare const jobs: import('mikro-orm-jobs').Jobs<EntityManager>;
  declare const Jobs: typeof import('mikro-orm-jobs').Jobs;
  type Jobs<Em extends EntityManager> = import('mikro-orm-jobs').Jobs<Em>;
  type EntityManager = import('@mikro-orm/postgresql').EntityManager;

  declare class Order { constructor(id: string); id: string; lines: string[] }
  declare class Payment { constructor(orderId: string, chargeId?: string) }
  declare const em: EntityManager;
  declare const order: Order;
  declare const orderId: string;
  declare const orders: { place(order: Order): Promise<void> };
  declare const lines: string[];
  declare const mailer: { send(orderId: string, signal: AbortSignal): Promise<void> };
  declare const bank: { charge(payload: { orderId: string }, options: { idempotencyKey: string; signal: AbortSignal }): Promise<Charge> };
  interface Charge { id: string; isDeclined: boolean; isBusy: boolean; isPending: boolean }
  interface Delivery { id: string; body: string; ack(): void; requeue(): void; reject(): void }
  declare const OrderPaid: import('zod').ZodType<{ orderId: string }>;

  declare const server: { close(): Promise<void> };
  declare const request: { headers: { traceparent: string } };
  declare const metrics: { observe(name: string, value: number, labels: Record<string, string>): void };
  declare const tracer: {
    activeContext(): import('mikro-orm-jobs').TraceContext | undefined;
    span<T>(name: string, parent: import('mikro-orm-jobs').TraceContext | null, work: () => Promise<T>): Promise<T>;
  };

  declare const chargeCard: import('mikro-orm-jobs').JobDefinition<{ orderId: string }, { orderId: string }>;
  declare const sendReceipt: import('mikro-orm-jobs').JobDefinition<{ orderId: string }, { orderId: string }>;
  declare const closeBooks: import('mikro-orm-jobs').JobDefinition<{ region: string }, { region: string }>;
  declare const chargeCardHandler: import('mikro-orm-jobs').JobHandler<typeof chargeCard>;
  declare const sendReceiptHandler: import('mikro-orm-jobs').JobHandler<typeof sendReceipt>;

  declare function Injectable(): (type: unknown, context: ClassDecoratorContext) => void;
  interface OnApplicationBootstrap { onApplicationBootstrap(): unknown }
  interface BeforeApplicationShutdown { beforeApplicationShutdown(): unknown }
`;

const sources = new Map([
  [virtualPath('globals.d.ts'), globals],
  [virtualPath('wrong.md.ts'), `await jobs.submit(sendReceipt.create({ orderId: 5 }));\nexport {};`],
  ...documents.map((document): [string, string] => [virtualPath(`${document}.ts`), codeOf(document)]),
]);
const problems = problemsOf(sources);

test.each(documents)('the code in %s compiles', document => {
  expect(sources.get(virtualPath(`${document}.ts`))).toContain('jobs.');
  expect(problems.filter(problem => problem.startsWith(document))).toEqual([]);
});

test('a wrong document would be seen', () => {
  expect(problems).toEqual([`wrong.md:1: Type 'number' is not assignable to type 'string'.`]);
});

/** The blocks of a document as one module, in its own lines, so that what is found has the document's numbers. */
function codeOf(document: string): string {
  let isCode = false;
  const lines = readFileSync(path.join(root, document), 'utf8')
    .split('\n')
    .map(line => {
      const isFence = line.startsWith('```');
      isCode = isFence ? line === '```ts' : isCode;
      return isCode && !isFence ? line : '';
    });

  return `${lines.join('\n')}\nexport {};`;
}

function problemsOf(files: ReadonlyMap<string, string>): string[] {
  const config = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config.config, include: [], files: [] }, ts.sys, root);
  const forDocuments = {
    ...options,
    noUnusedLocals: false,
    paths: {
      'mikro-orm-jobs': [path.join(root, 'src/index.ts')],
      'mikro-orm-jobs/memory': [path.join(root, 'src/memory/index.ts')],
      'mikro-orm-jobs/testing': [path.join(root, 'src/testing/index.ts')],
    },
  };
  const host = ts.createCompilerHost(forDocuments);
  const { getSourceFile, fileExists } = host;
  host.fileExists = file => files.has(file) || fileExists(file);
  host.getSourceFile = (file, version) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile(file, version) : ts.createSourceFile(file, text, version);
  };

  const program = ts.createProgram([...files.keys()], forDocuments, host);

  return [...files.keys()].flatMap(file => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(describe);
  });
}

function describe({ file, start, messageText }: ts.Diagnostic): string {
  const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
  const name = path.relative(virtualPath(''), file?.fileName ?? '').replace(/\.ts$/, '');

  return `${name}:${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
}

/** Beside the sources, so that packages are found. */
function virtualPath(file: string): string {
  return path.join(root, 'code-of-documents', file).replaceAll(path.sep, '/');
}
