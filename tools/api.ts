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

/** The entries whose names all others may mention. */
const COMMON: readonly string[] = [".", "./types", "./errors"];

/** What the files of the package declare. */
class Package {
  readonly #files = new Map<string, Declarations>();

  /** The declarations of what an entry exports, by name. */
  exportsOf(path: string): ReadonlyMap<string, Place> {
    const places = this.#exportedBy(path.replace(/^\.\//, "")).map((place) => this.resolve(place));
    return new Map(
      places.toSorted((one, other) => one.name < other.name ? -1 : 1).map((each) => [id(each), each]),
    );
  }

  /** Where a name is declared. */
  resolve(place: Place): Place {
    const { own, from } = this.#read(place.file);
    const next = own.has(place.name) ? undefined : from.get(place.name);
    return next === undefined ? place : this.resolve(next);
  }

  /** What declares a name; nothing if it comes from elsewhere. */
  statements({ file, name }: Place): readonly ts.Statement[] {
    return this.#read(file).own.get(name) ?? [];
  }

  #exportedBy(file: string): Place[] {
    const { exported, all } = this.#read(file);
    return [...exported.map((name) => ({ file, name })), ...all.flatMap((each) => this.#exportedBy(each))];
  }

  #read(file: string): Declarations {
    const found = this.#files.get(file) ?? declarationsOf(file);
    this.#files.set(file, found);
    return found;
  }
}

/** Returns the public API by the entries' names: what each exports. */
export function publicApi(entries: Readonly<Record<string, string>> = denoJson.exports): Map<string, string> {
  const declared = new Package();
  const shown = new Map<string, string>();
  const api = new Map<string, string>();
  // Types are shown where they are exported first.
  const order = Object.entries(entries).toSorted(([one], [other]) => rank(one) - rank(other));
  for (const [entry, path] of order) {
    const texts = [...declared.exportsOf(path)].map(([key, place]) => {
      const before = shown.get(key);
      if (before !== undefined) return `${place.name}: as in ${before}`;
      shown.set(key, entry);
      return declared.statements(place).map(print).join("\n");
    });
    api.set(entry, [...texts.filter((text) => text !== ""), ""].join("\n"));
  }
  return api;
}

/**
 * Returns the types that signatures mention and users can't import: neither from the entry of the signature,
 * nor from `.`, `./types` or `./errors`.
 */
export function hiddenTypes(entries: Readonly<Record<string, string>> = denoJson.exports): string[] {
  const declared = new Package();
  const exported = Object.entries(entries).map(([entry, path]) => [entry, declared.exportsOf(path)] as const);
  const common = exported.filter(([entry]) => COMMON.includes(entry)).flatMap((
    [, places],
  ) => [...places.keys()]);
  return exported.flatMap(([entry, places]) => {
    const known = new Set([...places.keys(), ...common]);
    return [...places.values()].flatMap((place) =>
      declared.statements(place).flatMap(namesIn)
        .map((name) => declared.resolve({ file: place.file, name }))
        .filter((each) => declared.statements(each).length > 0 && !known.has(id(each)))
        .map(({ name }) => `${entry}: ${place.name} mentions ${name}`)
    );
  });
}

/** Returns the parameters whose options have no name that users can import. */
export function namelessOptions(entries: Readonly<Record<string, string>> = denoJson.exports): string[] {
  const declared = new Package();
  return Object.entries(entries).flatMap(([entry, path]) =>
    [...declared.exportsOf(path).values()].flatMap((place) =>
      declared.statements(place).flatMap(namelessIn).map((name) => `${entry}: ${place.name}: ${name}`)
    )
  );
}

function id({ file, name }: Place): string {
  return `${file} ${name}`;
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
    compilerOptions: {
      isolatedDeclarations: true,
      removeComments: true,
      stripInternal: true,
      target: ts.ScriptTarget.ESNext,
    },
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

/** The names that a declaration mentions. */
function namesIn(statement: ts.Statement): string[] {
  const names = new Set<string>();
  const parameters = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (isHidden(node) || ts.isTypeQueryNode(node)) return; // a constant's type has no name of its own
    if (ts.isTypeParameterDeclaration(node)) parameters.add(node.name.text);
    const isName = ts.isIdentifier(node) &&
      !((ts.isTypeElement(node.parent) || ts.isClassElement(node.parent)) && node.parent.name === node);
    if (isName) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return [...names.difference(parameters)];
}

/** The parameters of methods and functions that list members in place of a type with a name. */
function namelessIn(statement: ts.Statement): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isHidden(node)) return;
    const isNameless = ts.isParameter(node) && node.type !== undefined && ts.isTypeLiteralNode(node.type) &&
      node.type.members.some(ts.isPropertySignature);
    if (isNameless) found.push(`${node.parent.name?.getText() ?? ""}(${node.getText()})`);
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return found;
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
