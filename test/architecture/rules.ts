import ts from 'typescript';
import { layers, type Layer } from './layers.ts';
import { importsIn, nodesOf, parse, type Import, type SourceTree } from './source-tree.ts';

export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Each answers what breaks it, one line for each: the file, and what is wrong with it. */
export type Rule = (tree: SourceTree, manifest: Manifest) => string[];

const maxLines = 300;
/** Where time and chance are handed in. */
const pureLayers = ['core', 'adapter', 'executor', 'unit of work', 'memory', 'memory jobs', 'conformance', 'testing'];
const clockFile = 'src/core/clock.ts';
const rootFiles = ['src/jobs.ts', 'src/memory/memory-jobs.ts'];
const indexFile = 'src/index.ts';

export const everyFileHasALayer: Rule = tree =>
  [...tree.keys()].filter(file => layerOf(file) === undefined).map(file => `${file} belongs to no layer`);

export const importsPointOneWay: Rule = tree =>
  importsIn(tree).flatMap(found => {
    const from = layerOf(found.file);
    const to = found.target === null ? undefined : layerOf(found.target);
    const isAllowed = to === undefined || from === to || from?.layers.includes(to.name);

    return isAllowed ? [] : [`${found.file} imports ${found.specifier}: ${from?.name} may not import ${to.name}`];
  });

export const importsExist: Rule = tree =>
  importsIn(tree)
    .filter(({ target }) => target !== null && !tree.has(target))
    .map(({ file, specifier }) => `${file} imports ${specifier}, which is no source file`);

export const packagesAreListed: Rule = tree =>
  packagesIn(tree).flatMap(found => {
    const from = layerOf(found.file);
    const isListed =
      from?.packages.includes(found.specifier) ||
      (found.isTypeOnly && from?.packages.includes(`type ${found.specifier}`));

    return isListed ? [] : [`${found.file} imports ${found.specifier}: not a package of ${from?.name}`];
  });

export const packagesAreInstalledWithUs: Rule = (tree, { dependencies, peerDependencies }) =>
  packagesIn(tree)
    .filter(({ specifier }) => !specifier.startsWith('node:') && !(packageOf(specifier) in { ...dependencies, ...peerDependencies }))
    .map(({ file, specifier }) => `${file} imports ${specifier}, which users don't have`); // prettier-ignore

export const listedPackagesAreUsed: Rule = tree => {
  const found = packagesIn(tree).map(({ file, specifier }) => `${layerOf(file)?.path} imports ${specifier}`);

  return layers.flatMap(({ path, packages }) =>
    packages
      .map(name => name.replace('type ', ''))
      .filter(name => !found.includes(`${path} imports ${name}`))
      .map(name => `${path} imports no ${name}`),
  );
};

export const timeIsHandedIn: Rule = tree =>
  nodesIn(tree, file => pureLayers.includes(layerOf(file)?.name ?? '') && file !== clockFile)
    .filter(([, node]) => readsTheTime(node))
    .map(([file, node]) => `${file}:${lineOf(node)} reads the time: ${node.getText()}`);

export const chanceIsHandedIn: Rule = tree =>
  nodesIn(tree, file => !rootFiles.includes(file))
    .filter(([, node]) => ts.isPropertyAccessExpression(node) && node.getText() === 'Math.random')
    .map(([file, node]) => `${file}:${lineOf(node)} takes its own chances: Math.random`);

export const nothingIsExportedUnnamed: Rule = tree =>
  nodesIn(tree, () => true)
    .filter(([, node]) => ts.isExportDeclaration(node) && (node.exportClause === undefined || ts.isNamespaceExport(node.exportClause)))
    .map(([file, node]) => `${file}:${lineOf(node)} exports without names: ${node.getText()}`); // prettier-ignore

export const theIndexOnlyExports: Rule = tree =>
  [...tree]
    .filter(([file]) => file === indexFile)
    .flatMap(([file, text]) => parse(file, text).statements.map(statement => [file, statement] as const))
    .filter(([, statement]) => !ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined)
    .map(([file, statement]) => `${file}:${lineOf(statement)} is more than an export: ${statement.getText()}`);

export const filesAreShort: Rule = tree =>
  [...tree]
    .map(([file, text]) => [file, text.trimEnd().split('\n').length] as const)
    .filter(([, lines]) => lines > maxLines)
    .map(([file, lines]) => `${file} has ${lines} lines, ${maxLines} at the most`);

export const filesAreNamedInKebabCase: Rule = tree =>
  [...tree.keys()].filter(file => !/^([a-z0-9]+(-[a-z0-9]+)*\/)+[a-z0-9]+(-[a-z0-9]+)*(\.entity)?\.ts$/.test(file));

function layerOf(file: string): Layer | undefined {
  return layers
    .filter(({ path }) => (path.endsWith('/') ? file.startsWith(path) : file === path))
    .sort((a, b) => b.path.length - a.path.length)[0];
}

function packagesIn(tree: SourceTree): Import[] {
  return importsIn(tree).filter(({ target }) => target === null);
}

/** `@scope/name/sub` is a part of `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function nodesIn(tree: SourceTree, isLookedAt: (file: string) => boolean): [string, ts.Node][] {
  return [...tree]
    .filter(([file]) => isLookedAt(file))
    .flatMap(([file, text]) => [...nodesOf(parse(file, text))].map((node): [string, ts.Node] => [file, node]));
}

function readsTheTime(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) {
    return node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0;
  }

  return (
    ts.isPropertyAccessExpression(node) && ['Date.now', 'performance.now', 'process.hrtime'].includes(node.getText())
  );
}

function lineOf(node: ts.Node): number {
  return node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
}
