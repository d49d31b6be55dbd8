/**
 * Writes down the public API: what each entry of the package exports, as declarations without comments.
 * A change of it then shows in the diff of its commit.
 *
 * `deno task api` writes `tools/api/*.txt` anew; a test says when they are out of date.
 *
 * @module
 */

import { dirname, join } from "node:path/posix";
import ts from "typescript";
import denoJson from "../deno.json" with { type: "json" };
import { ROOT } from "./process.ts";

const SETS_PARENTS = true;

/** Where the declarations of entries are written. */
export const API_FOLDER = new URL("api/", import.meta.url);

/** A name, and the file that declares it. */
interface Place {
  readonly file: string;
  readonly name: string;
}

/** What a file declares, and what it has from others. */
interface Declarations {
  /** The declarations of each name: a class may have an interface beside it. */
  readonly own: ReadonlyMap<string, readonly ts.Statement[]>;
  /** Names that come from another file of the package. */
  readonly from: ReadonlyMap<string, Place>;
  /** The names that others may import. */
  readonly exported: readonly string[];
  /** The files of which it exports all. */
  readonly all: readonly string[];
}

/**
 * Returns the public API by the entries' names.
 *
 * What an entry exports comes first. What it does not export but mentions follows, since a change of that is
 * a change of the API too.
 */
export function publicApi(entries: Readonly<Record<string, string>> = denoJson.exports): Map<string, string> {
  const files = new Map<string, Declarations>();
  const read = (file: string): Declarations => {
    const found = files.get(file) ?? declarationsOf(file);
    files.set(file, found);
    return found;
  };
  const exportedBy = (file: string): Place[] => {
    const { exported, all } = read(file);
    return [...exported.map((name) => ({ file, name })), ...all.flatMap(exportedBy)];
  };
  const resolve = (place: Place): Place => {
    const { own, from } = read(place.file);
    const next = own.has(place.name) ? undefined : from.get(place.name);
    return next === undefined ? place : resolve(next);
  };

  const shown = new Map<string, string>();
  const show = (place: Place, entry: string, mentioned: Place[]): string | undefined => {
    const key = `${place.file} ${place.name}`;
    const before = shown.get(key);
    if (before !== undefined) return before === entry ? undefined : `${place.name}: as in ${before}`;
    const statements = read(place.file).own.get(place.name);
    if (statements === undefined) return undefined; // of another package
    shown.set(key, entry);
    for (const name of statements.flatMap(namesIn)) mentioned.push(resolve({ file: place.file, name }));
    return statements.map(print).join("\n");
  };

  const api = new Map<string, string>();
  // Types are shown where they are exported.
  const order = Object.entries(entries).toSorted(([one], [other]) => rank(one) - rank(other));
  for (const [entry, path] of order) {
    const file = path.replace(/^\.\//, "");
    const mentioned: Place[] = [];
    const exported = exportedBy(file).toSorted((one, other) => one.name < other.name ? -1 : 1)
      .map((place) => show(resolve(place), entry, mentioned));
    const others: (string | undefined)[] = [];
    for (const place of mentioned) others.push(show(place, entry, mentioned)); // grows meanwhile
    const hidden = others.filter((text) => text !== undefined && !text.includes(": as in ")).toSorted();
    api.set(
      entry,
      [
        ...exported.filter((text) => text !== undefined),
        ...(hidden.length > 0 ? ["// Not exported here, but mentioned:", ...hidden] : []),
        "",
      ].join("\n"),
    );
  }
  return api;
}

/** The file that the API of an entry is written to. */
export function apiFile(entry: string): URL {
  const name = entry === "." ? "mod" : entry.slice(2).replaceAll("/", "_");
  return new URL(`${name}.txt`, API_FOLDER);
}

function rank(entry: string): number {
  return entry === "./types" ? 0 : entry === "." ? 1 : 2;
}

function declarationsOf(file: string): Declarations {
  const source = Deno.readTextFileSync(`${ROOT}${file}`);
  const { outputText } = ts.transpileDeclaration(source, {
    fileName: file,
    compilerOptions: { isolatedDeclarations: true, removeComments: true, target: ts.ScriptTarget.ESNext },
  });
  const { statements } = ts.createSourceFile(file, outputText, ts.ScriptTarget.ESNext, SETS_PARENTS);
  const own = new Map<string, ts.Statement[]>();
  const from = new Map<string, Place>();
  const exported = new Set<string>();
  const all: string[] = [];
  const local = (specifier: string) => join(dirname(file), specifier);
  for (const statement of statements) {
    const isExported = ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    for (const name of declaredNames(statement)) {
      own.set(name, [...own.get(name) ?? [], statement]);
      if (isExported) exported.add(name);
    }
    const isAll = ts.isExportDeclaration(statement) && statement.exportClause === undefined;
    if (isAll && statement.moduleSpecifier !== undefined && ts.isStringLiteral(statement.moduleSpecifier)) {
      all.push(local(statement.moduleSpecifier.text));
    }
    for (const { name, original, specifier } of linkedNames(statement)) {
      if (specifier?.startsWith(".")) {
        from.set(name, { file: local(specifier), name: original });
      } else if (specifier === undefined && name !== original) from.set(name, { file, name: original });
      if (ts.isExportDeclaration(statement)) exported.add(name);
    }
  }
  return { own, from, exported: [...exported], all };
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  const isNamed = ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) || ts.isFunctionDeclaration(statement) ||
    ts.isEnumDeclaration(statement) || ts.isModuleDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

/** The names that a statement imports or exports, with those that they have where they come from. */
function linkedNames(
  statement: ts.Statement,
): { readonly name: string; readonly original: string; readonly specifier: string | undefined }[] {
  const isImport = ts.isImportDeclaration(statement);
  if (!isImport && !ts.isExportDeclaration(statement)) return [];
  const specifier = statement.moduleSpecifier && ts.isStringLiteral(statement.moduleSpecifier)
    ? statement.moduleSpecifier.text
    : undefined;
  const list = isImport ? statement.importClause?.namedBindings : statement.exportClause;
  if (list === undefined || !(ts.isNamedImports(list) || ts.isNamedExports(list))) return [];
  return list.elements.map(({ name, propertyName }) => ({
    name: name.text,
    original: (propertyName ?? name).text,
    specifier,
  }));
}

/** The names that a declaration mentions, but for what a constructor takes: what users construct is exported. */
function namesIn(statement: ts.Statement): string[] {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (isHidden(node) || ts.isConstructorDeclaration(node)) return;
    const isName = ts.isIdentifier(node) &&
      !((ts.isTypeElement(node.parent) || ts.isClassElement(node.parent)) && node.parent.name === node);
    if (isName) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return [...names];
}

/** Whether no user is meant to reach a member: it is private, or has a symbol of ours for a name. */
function isHidden(node: ts.Node): boolean {
  if (!ts.isClassElement(node) && !ts.isTypeElement(node)) return false;
  const name = node.name?.getText();
  if (name?.startsWith("[") && !name.startsWith("[Symbol.")) return true;
  const isPrivate = ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
  return isPrivate === true || node.name !== undefined && ts.isPrivateIdentifier(node.name);
}

function print(statement: ts.Statement): string {
  if (!ts.isClassDeclaration(statement) && !ts.isInterfaceDeclaration(statement)) return statement.getText();
  const members: readonly (ts.ClassElement | ts.TypeElement)[] = statement.members;
  const hidden = members.filter(isHidden).map((member) => member.getFullText());
  return hidden.reduce((text, member) => text.replace(member, ""), statement.getText());
}

if (import.meta.main) {
  await Deno.mkdir(API_FOLDER, { recursive: true });
  for (const [entry, text] of publicApi()) await Deno.writeTextFile(apiFile(entry), text);
}
