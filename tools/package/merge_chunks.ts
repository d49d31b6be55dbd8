/**
 * Puts chunks of a bundle together that are always loaded together. Deno reads all files of a program before
 * it begins, also those of late imports, and a chunk of a few lines takes as long as a large one.
 *
 * @module
 */

import { basename, join, relative } from "node:path/posix";
import * as esbuild from "esbuild";
import ts from "typescript";
import { filesIn, keepNames } from "./bundle.ts";

/** Chunks that become one file. */
interface Merge {
  /** Its name. */
  readonly name: string;
  /** The beginning of the name of the file whose chunks it gets: those that it loads with itself. */
  readonly root: string;
  /** The beginnings of the names of files whose chunks stay as they are: they are loaded without the root. */
  readonly spares?: readonly string[];
}

/** A file of the bundle. */
interface BundledFile {
  readonly path: string;
  readonly text: string;
  /** What it loads with itself, of the bundle. */
  readonly imports: readonly ChunkImport[];
}

/** An import, or an export from elsewhere. */
interface ChunkImport {
  readonly path: string;
  readonly node: ts.ImportDeclaration | ts.ExportDeclaration;
}

const isChunk = (path: string) => basename(path).startsWith("chunk-");

/**
 * Merges chunks, one file after the other; each chunk goes into the first one that loads it.
 *
 * @param folder The bundle, with its chunks directly in it, and their maps beside them.
 */
export async function mergeChunks(folder: string, merges: readonly Merge[]): Promise<void> {
  for (const merge of merges) await mergeInto(folder, merge);
  await esbuild.stop();
}

async function mergeInto(folder: string, { name, root, spares = [] }: Merge): Promise<void> {
  const files = new Map<string, BundledFile>();
  for (const path of await filesIn(folder, ".js")) files.set(path, await read(path));
  const loadedBy = (begin: string) =>
    [...files.keys()].filter((path) => relative(folder, path).startsWith(begin))
      .map((path) => loadedWith(path, files)).reduce((all, each) => all.union(each), new Set<string>());
  const spared = new Set(spares.flatMap((begin) => [...loadedBy(begin)]));
  const merged = [...loadedBy(root)].filter((path) => isChunk(path) && !spared.has(path)).sort();
  if (merged.length === 0) throw new Error(`Cannot merge into ${name}: ${root} loads no chunks`);
  const target = join(folder, name);
  const prefixes = new Map(merged.map((path, index) => [path, `c${index}_`]));
  const wanted = new Set<string>();
  for (const { path, text, imports } of files.values()) {
    if (prefixes.has(path)) continue;
    const edited = redirected(text, imports, { from: path, target, prefixes, wanted });
    if (edited !== text) await Deno.writeTextFile(path, edited);
  }
  await esbuild.build({
    stdin: { contents: reexports(folder, prefixes, wanted), resolveDir: folder, sourcefile: "chunks" },
    ...{ bundle: true, format: "esm", platform: "neutral", target: "esnext", logLevel: "error" },
    ...{ outfile: target, sourcemap: "linked", sourcesContent: false },
    plugins: [{
      name: "only these chunks",
      setup(build) {
        build.onResolve(
          { filter: /.*/ },
          ({ path }) =>
            prefixes.has(join(folder, path)) ? { path: join(folder, path) } : { path, external: true },
        );
      },
    }],
  });
  await Deno.writeTextFile(target, keepNames(await Deno.readTextFile(target)));
  for (const path of merged) {
    await Deno.remove(path);
    await Deno.remove(`${path}.map`);
  }
}

async function read(path: string): Promise<BundledFile> {
  const text = await Deno.readTextFile(path);
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext);
  const imports = statements.flatMap((node): ChunkImport[] => {
    if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return [];
    const { moduleSpecifier } = node;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
    return moduleSpecifier.text.startsWith(".")
      ? [{ path: join(path, "..", moduleSpecifier.text), node }]
      : [];
  });
  return { path, text, imports };
}

/** The files that are loaded with one, and itself. */
function loadedWith(path: string, files: ReadonlyMap<string, BundledFile>, found = new Set<string>()) {
  if (found.has(path)) return found;
  found.add(path);
  for (const each of files.get(path)?.imports ?? []) loadedWith(each.path, files, found);
  return found;
}

/** What becomes of the imports of merged chunks. */
interface Redirection {
  /** The file that has the imports. */
  readonly from: string;
  /** The file that the chunks go into. */
  readonly target: string;
  /** What is put in front of the names that a chunk exports, since two may export the same. */
  readonly prefixes: ReadonlyMap<string, string>;
  /** Gets the names that the target has to export, each as `chunk name`. */
  readonly wanted: Set<string>;
}

/** Has a file import from the target. Lines stay, so that maps hold. */
function redirected(
  text: string,
  imports: readonly ChunkImport[],
  { from, target, prefixes, wanted }: Redirection,
): string {
  let [edited, at] = ["", 0];
  const put = (node: ts.Node, replacement: string) => {
    const start = text.indexOf(text.slice(node.pos, node.end).trimStart(), node.pos);
    edited += text.slice(at, start) + replacement;
    at = node.end;
  };
  for (const { path, node } of imports) {
    const prefix = prefixes.get(path);
    if (prefix === undefined) continue;
    const named = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
    const clause = ts.isImportDeclaration(node) ? node.importClause : node.exportClause;
    const isNamed = named !== undefined && (ts.isNamedImports(named) || ts.isNamedExports(named));
    if (!isNamed && (clause !== undefined || ts.isExportDeclaration(node))) {
      throw new Error(`Cannot merge ${path}: ${from} does not import names`);
    }
    for (const { propertyName, name } of isNamed ? named.elements : []) {
      const exported = (propertyName ?? name).text;
      wanted.add(`${path} ${exported}`);
      put(
        propertyName ?? name,
        propertyName === undefined ? `${prefix}${exported} as ${exported}` : prefix + exported,
      );
    }
    const specifier = relative(join(from, ".."), target);
    put(
      node.moduleSpecifier as ts.StringLiteral,
      JSON.stringify(specifier.startsWith(".") ? specifier : `./${specifier}`),
    );
  }
  return edited + text.slice(at);
}

/** The module that exports what others want of the chunks. */
function reexports(
  folder: string,
  prefixes: ReadonlyMap<string, string>,
  wanted: ReadonlySet<string>,
): string {
  return [...prefixes].map(([path, prefix]) => {
    const names = [...wanted].filter((each) => each.startsWith(`${path} `)).map((each) =>
      each.slice(path.length + 1)
    );
    const exported = names.sort().map((name) => `${name} as ${prefix}${name}`).join(", ");
    return `export { ${exported} } from "./${relative(folder, path)}";`;
  }).join("\n");
}
