import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** Text by path; paths are relative to the repository and have slashes. */
export type SourceTree = ReadonlyMap<string, string>;

export interface Import {
  readonly file: string;
  readonly specifier: string;
  /** The imported file, or null for a package. */
  readonly target: string | null;
  /** Whether nothing is left of it at run time. */
  readonly isTypeOnly: boolean;
}

export function readTree(root: string, folders: readonly string[]): SourceTree {
  const files = folders
    .flatMap(folder => readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => `${folder}/${file}`))
    .map(file => file.replaceAll(path.sep, '/'))
    .filter(file => file.endsWith('.ts'));

  return new Map(files.map(file => [file, readFileSync(path.join(root, file), 'utf8')]));
} // prettier-ignore

const parsed = new Map<string, ts.SourceFile>();

export function parse(file: string, text: string): ts.SourceFile {
  const known = parsed.get(text) ?? ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  parsed.set(text, known);

  return known;
}

/** Every node of a file, comments not among them. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  const children: ts.Node[] = [];
  ts.forEachChild(node, child => void children.push(child));

  yield node;
  for (const child of children) {
    yield* nodesOf(child);
  }
}

/** Import and export declarations, `import()`, `import x = require()`, and `import()` types. */
export function importsIn(tree: SourceTree): Import[] {
  return [...tree].flatMap(([file, text]) =>
    [...nodesOf(parse(file, text))].flatMap(node => {
      const specifier = specifierOf(node);
      return specifier === null ? [] : [{ file, specifier, target: targetOf(file, specifier), isTypeOnly: isTypeOnly(node) }];
    }),
  );
} // prettier-ignore

function specifierOf(node: ts.Node): string | null {
  const named =
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
      ? node.moduleSpecifier
      : ts.isExternalModuleReference(node)
        ? node.expression
        : ts.isCallExpression(node) && isImportCall(node)
          ? node.arguments[0]
          : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
            ? node.argument.literal
            : undefined;

  if (named === undefined) {
    return null;
  }
  return ts.isStringLiteralLike(named) ? named.text : named.getText();
}

function isImportCall({ expression }: ts.CallExpression): boolean {
  return expression.kind === ts.SyntaxKind.ImportKeyword || expression.getText() === 'require';
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) {
    return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
  }

  return ts.isImportTypeNode(node) || (ts.isExportDeclaration(node) && node.isTypeOnly);
}

function targetOf(file: string, specifier: string): string | null {
  return specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : null;
}
