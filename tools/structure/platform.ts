/**
 * What a platform gives is asked of one port, `src/base/platform/`, and nowhere else.
 *
 * @module
 */

import ts from "typescript";
import type { SourceFile, Violation } from "./types.ts";

const WITH_PARENTS = true;

/** Folders of what is for some platforms alone, and why. */
const EXCEPTIONS = [
  "src/base/platform/", // the port
  "src/cli/", // a program, on modules of Node that Deno and Bun have too
  "src/store/deno_kv/", // Deno's own database
  "src/store/sqlite/", // `node:sqlite`, which Node and Bun have as well
  "src/testing/conformance/", // `node:assert` and `Deno.test`, of tests
];

/** Uses of `Deno` and of modules of Node, in code: what comments and texts say does not count. */
export function checkPlatform(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => /^(?:(?:mod|types|errors)\.ts$|src\/.*\.ts$)/.test(path))
    .filter(({ path }) => !EXCEPTIONS.some((folder) => path.startsWith(folder)))
    .flatMap(({ path, text }) =>
      [...new Set(usesIn(path, text))].map((use) =>
        `${path}: uses ${use}; ask src/base/platform/ for it, or add it there`
      )
    );
}

function usesIn(path: string, text: string): string[] {
  if (!/\bDeno\b|["']node:/.test(text)) return [];
  const uses: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === "Deno") uses.push("Deno");
    if (ts.isStringLiteralLike(node) && node.text.startsWith("node:")) uses.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, WITH_PARENTS));
  return uses;
}
