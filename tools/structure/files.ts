/**
 * What must hold of each file for itself.
 *
 * @module
 */

import { isDoor } from "./doors.ts";
import { repeatingComments } from "./repeating_comments.ts";
import type { SourceFile, Violation } from "./types.ts";

/** A rule: what is wrong with the file, if anything is. */
type FileRule = (file: SourceFile) => string | undefined;

/** How many lines a file may have. */
export const MAX_LINES = 300;
/** Entries that are not the door of a folder. */
const ENTRIES = [
  "mod.ts",
  "types.ts",
  "errors.ts",
  "src/store/indexeddb.ts",
  "src/store/kv.ts",
  "src/store/sqlite.ts",
];

const isSource = ({ path }: SourceFile) => /\.(ts|rs|py)$/.test(path) && !path.startsWith("third_party/");
const isProduct = ({ path }: SourceFile) => /^((?:mod|types|errors)\.ts$|src\/.*\.ts$)/.test(path);

/** The comment at the very start of a file. */
export const headComment = (text: string) => /^\/\*\*.*?\*\//s.exec(text)?.[0] ?? "";

/** Re-exports of other files. */
export const REEXPORT = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\b(?:\s*"[^"]*";)?/gm;
const MACHINE_PATH = /(?:^|[^\w./-])(\/(?:work|root|farm)\/\S*)/m;
// So written that it does not fit itself.
const LEFTOVER = /\b(?:TO[D]O|FIX[M]E)\b|\bDeno\.test\.(?:ignore|only)\b|\b(?:ignore|only): true\b/;

const length: FileRule = (file) => {
  const lines = file.text.trimEnd().split("\n").length;
  const allowed = !isSource(file) || lines <= MAX_LINES ||
    headComment(file.text).includes("Over 300 lines because");
  return allowed ? undefined : `has ${lines} lines; split it, or say at its head "Over 300 lines because …"`;
};

const barrel: FileRule = (file) => {
  const allowed = !isSource(file) || isDoor(file.path, ENTRIES) ||
    (file.text.match(REEXPORT)?.length ?? 0) <= 1;
  return allowed ? undefined : "re-exports from several files; only an entry and the door of a folder may";
};

const moduleComment: FileRule = (file) => {
  const allowed = !isProduct(file) || /^ \* @module$/m.test(headComment(file.text));
  return allowed ? undefined : "does not start with a comment that says what it is for and ends with @module";
};

const machinePath: FileRule = (file) => {
  const path = MACHINE_PATH.exec(file.text)?.[1];
  return path === undefined ? undefined : `names a path of one machine: ${path}`;
};

const leftover: FileRule = (file) => {
  const found = isSource(file) ? LEFTOVER.exec(file.text)?.[0] : undefined;
  return found === undefined ? undefined : `contains ${found}`;
};

const repeatingComment: FileRule = (file) => {
  const names = isProduct(file) ? repeatingComments(file) : [];
  return names.length === 0
    ? undefined
    : `has comments that only repeat their declaration: ${names.join(", ")}; say more, or leave them out`;
};

/** A member, behind the comment that calls it internal, up to where its name ends. */
const INTERNAL = /@internal(?:(?!\*\/)[^])*\*\/\s*((?:\w+ )*[\w[#]+)/g;

const internalName: FileRule = ({ path, text }) => {
  if (!path.startsWith("src/")) return undefined;
  const members = [...text.matchAll(INTERNAL)].map(([, member = ""]) => member);
  const named = members.filter((member) =>
    !/^(?:constructor$|export (?:interface|type|abstract class) |protected |.*\[)/.test(member)
  );
  return named.length === 0
    ? undefined
    : `has internal members with names: ${
      named.join(", ")
    }; name them by symbols, so that no program finds them`;
};

const rules: FileRule[] = [
  length,
  barrel,
  moduleComment,
  machinePath,
  leftover,
  repeatingComment,
  internalName,
];

/** What breaks a rule, file by file. */
export function checkFiles(files: SourceFile[]): Violation[] {
  return files.flatMap((file) =>
    rules.flatMap((rule) => {
      const problem = rule(file);
      return problem === undefined ? [] : [`${file.path}: ${problem}`];
    })
  );
}
