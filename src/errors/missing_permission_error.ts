/**
 * The error for what Deno does not let the program do.
 *
 * @see {@link https://docs.deno.com/runtime/fundamentals/security/ | Deno's permissions}
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/**
 * Deno was started without a permission that the client, or its store, needs; the message names the
 * flag.
 *
 * Mend: Start Deno with the flag that the message names.
 */
export class MissingPermissionError extends MatrixError {
  /** Always `MISSING_PERMISSION`. */
  override readonly code = "MISSING_PERMISSION";
}

/**
 * Says which flag is missing.
 *
 * @param error What was thrown.
 * @param action What was to be done.
 * @returns Undefined if it was thrown for another reason.
 */
export function missingPermission(error: unknown, action: string): MissingPermissionError | undefined {
  if (!(error instanceof Error) || error.name !== "NotCapable") return undefined;
  const [, kind = "", what = ""] = /^Requires (\w+) access to "([^"]*)"/.exec(error.message) ?? [];
  const lacking = LACKING[kind]?.(what);
  return lacking &&
    new MissingPermissionError(
      `Cannot ${action}: the program may not ${lacking.may}; start Deno with ${lacking.flag}`,
      { cause: error },
    );
}

/** A store reads and writes, and has files of its own beside that of its path: its folder is needed. */
const ofFile = (path: string) => {
  const folder =
    path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).replace(/(.)[/\\]$/, "$1") ||
    ".";
  return { may: `read or write ${path}`, flag: `--allow-read=${folder} --allow-write=${folder}` };
};

/** What may not be done, and the flag for it, by the kind of access. */
const LACKING: Readonly<Record<string, ((what: string) => { may: string; flag: string }) | undefined>> = {
  net(address) {
    const host = address.replace(/:(?:80|443)$/, "");
    return { may: `connect to ${host}`, flag: `--allow-net=${host}` };
  },
  read: ofFile,
  write: ofFile,
};
