/**
 * What grows: the collections that live longer than a call, and what `bounds.md` says of each.
 *
 * A row is about a class, a module or a function, and names all of its collections: maps, sets,
 * lists that something is added to, caches; and what counts. Of the locals of functions those are
 * meant that a function inside adds to, which may outlive the call. `src/testing/` is not meant,
 * whose homeserver keeps all of a test.
 *
 * @module
 */

import ts from "typescript";
import type { SourceFile, Violation } from "./types.ts";

/** The collections of a class, a module or a function. */
export interface Collections {
  readonly file: string;
  /** The class or function; `module` for those of none. */
  readonly owner: string;
  readonly names: readonly string[];
}

/** A row of the table. */
export interface BoundsRow extends Collections {
  readonly bound: string;
  /** The path of a test; empty: how long it lives bounds it, or what the application adds. */
  readonly test: string;
}

const COLLECTION = /^(?:Map|Set|WeakMap|WeakSet|RecentMap|RecentSet)$/;
/** Nodes know what they are in. */
const PARENTS = true;
const ADDS = /^(?:set|add|push|unshift|splice|getOrInsert|getOrInsertComputed)$/;
/** What lives no longer than a call, has what the application adds, or only counts needs no test. */
const BY_ITSELF = /^(?:one |as long as |what the application |a number)/;
/** Methods that call a function before they return. */
const CALLS_AT_ONCE = /^(?:every|filter|find|flatMap|forEach|from|map|reduce|some|sort|toSorted)$/;

/** All collections of the sources. */
export function collectionsIn(files: readonly SourceFile[]): Collections[] {
  return files.filter(({ path }) => /^src\/(?!testing\/).*\.ts$/.test(path)).flatMap(collectionsOf);
}

function collectionsOf({ path: file, text }: SourceFile): Collections[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, PARENTS);
  const found = new Map<string, string[]>();
  const note = (owner: string, name: string) => void found.getOrInsertComputed(owner, () => []).push(name);
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const { name, initializer } of statement.declarationList.declarations) {
        const isOne = initializer !== undefined && isNew(initializer) && isFilled(source, name.getText());
        if (isOne) note("module", name.getText());
      }
    }
  }
  const visit = (node: ts.Node): void => {
    if (ts.isClassLike(node)) {
      for (const member of node.members) {
        if (ts.isPropertyDeclaration(member) && (isCollection(member, node) || isCounter(member, node))) {
          note(node.name?.text ?? "class", member.name.getText());
        }
      }
    }
    if (ts.isVariableDeclaration(node)) {
      const around = ts.findAncestor(node.parent, ts.isFunctionLike);
      const { initializer } = node;
      const isOne = initializer !== undefined && (isNew(initializer) || isEmptyList(initializer));
      if (around !== undefined && isOne && isFilledLater(around, node.name.getText())) {
        note(around.name?.getText().replace("#", "") ?? "function", node.name.getText());
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found].map(([owner, names]) => ({ file, owner, names }));
}

function isCollection({ name, initializer, type }: ts.PropertyDeclaration, owner: ts.Node): boolean {
  if (initializer !== undefined && isNew(initializer)) return true;
  if (
    type !== undefined &&
    /^(?:Map|Set|WeakMap|WeakSet|RecentMap|RecentSet)</.test(type.getText())
  ) {
    return true;
  }
  const isList = type?.getText().endsWith("[]") ||
    initializer !== undefined && ts.isArrayLiteralExpression(initializer);
  return isList && isFilled(owner, `this.${name.getText()}`);
}

/** Whether something counts. */
function isCounter({ name, initializer }: ts.PropertyDeclaration, owner: ts.Node): boolean {
  if (initializer === undefined || !ts.isNumericLiteral(initializer)) return false;
  const [text, field] = [owner.getText(), `this.${name.getText()}`];
  return [`++${field}`, `${field}++`, `${field} += `].some((form) => text.includes(form));
}

function isEmptyList(value: ts.Expression): boolean {
  return ts.isArrayLiteralExpression(value) && value.elements.length === 0;
}

/** Whether a function inside of another adds to a local of that, and is kept or handed in. */
function isFilledLater(around: ts.Node, name: string): boolean {
  let isSo = false;
  const visit = (node: ts.Node): void => {
    const isInner = node !== around && ts.isFunctionLike(node) && !isCalledAtOnce(node);
    if (isInner) isSo ||= isFilled(node, name);
    if (!isSo) ts.forEachChild(node, visit);
  };
  visit(around);
  return isSo;
}

function isCalledAtOnce({ parent }: ts.Node): boolean {
  return ts.isCallExpression(parent) && ts.isPropertyAccessExpression(parent.expression) &&
    CALLS_AT_ONCE.test(parent.expression.name.text);
}

function isNew(value: ts.Expression): boolean {
  return ts.isNewExpression(value) && COLLECTION.test(value.expression.getText()) &&
    (value.arguments?.length === 0 || !/^(?:Map|Set)$/.test(value.expression.getText()));
}

/** Whether something is added to what has a name. */
function isFilled(within: ts.Node, name: string): boolean {
  let isSo = false;
  const visit = (node: ts.Node): void => {
    isSo ||= ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) &&
      ADDS.test(node.expression.name.text) && node.expression.expression.getText() === name;
    if (!isSo) ts.forEachChild(node, visit);
  };
  visit(within);
  return isSo;
}

/** The rows of the table: below the heading of a folder, a line for each class. */
export function boundsRows(markdown: string): BoundsRow[] {
  let folder = "";
  return markdown.split("\n").flatMap((line) => {
    folder = /^## `(.*)`$/.exec(line)?.[1] ?? folder;
    const [, place = "", names = "", bound = "", test = ""] = line.split("|").map((cell) => cell.trim());
    const [, file, owner] = /^`(\S+\.ts)` (\w+)$/.exec(place) ?? [];
    if (file === undefined || owner === undefined) return [];
    const each = names.split(",").map((name) => name.trim().replaceAll("`", ""));
    return [{ file: `${folder}/${file}`, owner, names: each, bound, test: test.replaceAll("`", "") }];
  });
}

/** Where the table and the code differ, and tests that are not there. */
export function checkBounds(files: readonly SourceFile[], markdown: string): Violation[] {
  const nameOf = ({ file, owner }: Collections) => `${file} ${owner}`;
  const rows = new Map(boundsRows(markdown).map((row) => [nameOf(row), row]));
  const found = new Map(collectionsIn(files).map((each) => [nameOf(each), each]));
  const paths = new Set(files.map(({ path }) => path));
  return [
    ...found.values().flatMap((each) =>
      each.names.filter((name) => !rows.get(nameOf(each))?.names.includes(name))
        .map((name) => `${each.file}: ${each.owner} has ${name}, and no row of bounds.md says what bounds it`)
    ),
    ...rows.values().flatMap((row) =>
      row.names.filter((name) => !found.get(nameOf(row))?.names.includes(name))
        .map((name) => `bounds.md: ${row.file} has no collection ${name} in ${row.owner}`)
    ),
    ...rows.values().filter(({ test, bound }) => test === "" ? !BY_ITSELF.test(bound) : !paths.has(test))
      .map((row) => `bounds.md: ${row.file} ${row.owner} needs a test: ${row.test || "none is named"}`),
  ];
}
