/**
 * Files that only their user may read and write, on systems that know that.
 *
 * @module
 */

/** What others may do with a file, as bits of its mode. */
const OTHERS = 0o077;
/** What its own user may do with it. */
const PRIVATE = 0o600;

/**
 * Creates an empty file that only its user may use, if there is none and Deno may. SQLite gives those that it
 * puts beside it the same mode. Nothing fails here: what opens the file says what is wrong.
 *
 * @param path The file.
 */
export function createPrivateFile(path: string): void {
  if (Deno.permissions.querySync({ name: "write", path }).state !== "granted") return; // Deno would prompt
  try {
    // At once, before anything else can open it: closing a file releases the locks that the process has on it.
    Deno.openSync(path, { write: true, createNew: true, mode: PRIVATE }).close();
  } catch {
    // It is there, or can't be.
  }
}

/**
 * Which of some files and folders others may use, with what to do about it.
 *
 * @param paths The files and folders; those that are not there, or that Deno may not read, are left out.
 * @returns Undefined if there are none, or the system knows no such modes.
 */
export function warningOfOthers(paths: readonly string[]): string | undefined {
  const wide = paths.filter((path) => ((modeOf(path) ?? 0) & OTHERS) !== 0);
  if (wide.length === 0) return undefined;
  return `Other users of the machine may use ${wide.join(", ")}: run chmod go= ${wide.join(" ")}`;
}

function modeOf(path: string): number | null {
  if (Deno.permissions.querySync({ name: "read", path }).state !== "granted") return null;
  try {
    return Deno.statSync(path).mode;
  } catch {
    return null;
  }
}
