/**
 * The recovery key of a bot in a file, which its first start makes.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";

export interface RecoveryKeyFile {
  /** The key that is in it; undefined: none yet. */
  readonly recoveryKey: string | undefined;
  /**
   * Keeps a new key in it, on the disk when that resolves. A key that is there is never replaced.
   *
   * @throws {ValueError} If it can't be kept, or the file has another one by now.
   */
  keep(recoveryKey: string): Promise<void>;
}

/**
 * Reads a file for the recovery key.
 *
 * @param path The file, which need not be there.
 * @throws {ValueError} If it can't be read.
 */
export function readRecoveryKeyFile(path: string): RecoveryKeyFile {
  return { recoveryKey: keyIn(path), keep: (recoveryKey) => keep(path, recoveryKey) };
}

function keyIn(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path).trim() || undefined; // empty: a start was cut off before it wrote the key
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return undefined;
    throw unusable("read", path, cause);
  }
}

async function keep(path: string, recoveryKey: string): Promise<void> {
  try {
    using file = await Deno.open(path, { write: true, create: true, mode: 0o600 });
    const there = keyIn(path);
    if (there === recoveryKey) return;
    if (there !== undefined) {
      throw new ValueError(
        `Cannot keep the recovery key: ${path} has another one by now, of another process; start again, which reads it`,
      );
    }
    await file.write(new TextEncoder().encode(`${recoveryKey}\n`)); // in one go
    await file.sync();
    await syncFolder(path);
  } catch (cause) {
    throw cause instanceof ValueError ? cause : unusable("write to", path, cause);
  }
}

/** Has the disk know the file's name, too, where the system can do that. */
async function syncFolder(path: string): Promise<void> {
  const folder = path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1) || ".";
  try {
    const { state } = await Deno.permissions.query({ name: "read", path: folder }); // Deno would prompt the user
    if (state !== "granted") return;
    using opened = await Deno.open(folder);
    await opened.sync();
  } catch {
    // Windows opens no folders.
  }
}

function unusable(action: "read" | "write to", path: string, cause: unknown): ValueError {
  const flag = action === "read" ? "read" : "write";
  const mend = cause instanceof Deno.errors.NotCapable
    ? `Deno may not; start it with --allow-read=${path} --allow-write=${path}`
    : cause instanceof Deno.errors.NotFound
    ? "its folder is not there; make the folder"
    : `${cause instanceof Error ? cause.message : cause}; let this process ${flag} it`;
  return new ValueError(
    `Cannot ${action} the recovery key's file ${path} (MATRIX_RECOVERY_KEY_FILE): ${mend}`,
    {
      cause,
    },
  );
}
