/**
 * Which names the files of the repository export, and which they have from others.
 *
 * @module
 */

import { dirname, join } from "node:path/posix";
import ts from "typescript";
import type { SourceFile } from "./types.ts";

const WITH_PARENTS = true;
/** All names of a file. */
export const ALL = "*";

/** A name of a file. */
export interface Place {
  readonly file: string;
  readonly name: string;
  /** Whether only its type is imported or exported. */
  readonly isType?: boolean;
}

/** What a file exports, and what it has from others. */
export interface Names {
  /** The exports, with the places of those that are re-exported. */
  readonly exports: ReadonlyMap<string, Place | undefined>;
  /** The names that it imports. */
  readonly imports: readonly Place[];
  /** The files of which it exports all. */
  readonly all: readonly string[];
  /** The names that the signature of a declaration mentions, by its name. */
  readonly mentioned: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What each file exports and imports, by its path. */
export const namesOfAll = (files: readonly SourceFile[]): ReadonlyMap<string, Names> =>
  new Map(files.filter(({ path }) => path.endsWith(".ts")).map((file) => [file.path, namesOf(file)]));

function namesOf({ path, text }: SourceFile): Names {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, WITH_PARENTS);
  const at = (specifier: ts.Node | undefined) =>
    specifier !== undefined && ts.isStringLiteral(specifier) && specifier.text.startsWith(".")
      ? join(dirname(path), specifier.text)
      : undefined;
  const exports = new Map<string, Place | undefined>();
  const imports: Place[] = [];
  const all: string[] = [];
  const mentioned = new Map<string, Set<string>>();

  for (const statement of tree.statements) {
    if (ts.isExportDeclaration(statement)) {
      const file = at(statement.moduleSpecifier);
      if (statement.exportClause === undefined) file !== undefined && all.push(file);
      else if (ts.isNamedExports(statement.exportClause)) {
        for (const { name, propertyName, isTypeOnly } of statement.exportClause.elements) {
          const isType = statement.isTypeOnly || isTypeOnly;
          const original = { name: (propertyName ?? name).text, isType };
          exports.set(name.text, file === undefined ? undefined : { file, ...original });
        }
      } else if (file !== undefined) exports.set(statement.exportClause.name.text, { file, name: ALL });
      continue;
    }
    const isExported = ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    for (const [name, node] of declared(statement)) {
      if (isExported) exports.set(name, undefined);
      const known = mentioned.get(name) ?? new Set();
      mentioned.set(name, known);
      typesIn(node, known);
    }
  }

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const file = at(node.moduleSpecifier);
      const bindings = node.importClause?.namedBindings;
      if (file === undefined || bindings === undefined) return;
      if (ts.isNamespaceImport(bindings)) imports.push({ file, name: ALL });
      else {
        const { isTypeOnly: areTypes } = node.importClause ?? {};
        imports.push(...bindings.elements.map(({ name, propertyName, isTypeOnly }) => (
          { file, name: (propertyName ?? name).text, isType: areTypes || isTypeOnly }
        )));
      }
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const file = at(node.argument.literal);
      const name = node.qualifier === undefined ? ALL : node.qualifier.getText(tree).split(".")[0] ?? ALL;
      if (file !== undefined) imports.push({ file, name });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const file = at(node.arguments[0]);
      if (file !== undefined) imports.push(...takenOf(node).map((name) => ({ file, name })));
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { exports, imports, all, mentioned };
}

/** The names that are taken of what an `import()` gives, or all if that can't be seen. */
function takenOf(call: ts.Node): string[] {
  let node = call.parent;
  while (ts.isAwaitExpression(node) || ts.isParenthesizedExpression(node)) node = node.parent;
  if (ts.isPropertyAccessExpression(node)) {
    const next = node.parent;
    if (node.name.text !== "then" || !ts.isCallExpression(next)) return [node.name.text];
    const then = next.arguments[0];
    const taken = then !== undefined && ts.isArrowFunction(then) ? then.parameters[0]?.name : undefined;
    return namesInPattern(taken);
  }
  return namesInPattern(ts.isVariableDeclaration(node) ? node.name : undefined);
}

function namesInPattern(pattern: ts.Node | undefined): string[] {
  if (pattern === undefined || !ts.isObjectBindingPattern(pattern)) return [ALL];
  return pattern.elements.map(({ name, propertyName }) => (propertyName ?? name).getText());
}

/** The names that a statement declares. */
function declared(statement: ts.Statement): [name: string, node: ts.Node][] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map((node) => [node.name.getText(), node]);
  }
  const isNamed = ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) || ts.isFunctionDeclaration(statement) ||
    ts.isEnumDeclaration(statement) || ts.isModuleDeclaration(statement);
  return isNamed && statement.name !== undefined ? [[statement.name.text, statement]] : [];
}

/** Collects the names of types that a signature mentions: not those in bodies and private members. */
function typesIn(node: ts.Node, names: Set<string>): void {
  if (ts.isBlock(node) || isPrivate(node)) return;
  const name = ts.isTypeReferenceNode(node)
    ? node.typeName
    : ts.isTypeQueryNode(node)
    ? node.exprName
    : ts.isExpressionWithTypeArguments(node)
    ? node.expression
    : undefined;
  if (name !== undefined) names.add(name.getText().split(".")[0] ?? "");
  ts.forEachChild(node, (child) => typesIn(child, names));
}

function isPrivate(node: ts.Node): boolean {
  if (!ts.isClassElement(node)) return false;
  if (node.name !== undefined && ts.isPrivateIdentifier(node.name)) return true;
  return ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) === true;
}
