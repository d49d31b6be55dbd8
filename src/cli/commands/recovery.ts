/**
 * `greenroom recovery`, the key that brings the bot's keys back, and `greenroom keys`,
 * the keys of encrypted rooms in the file that Element reads and writes too.
 *
 * @module
 */

import { rename } from "node:fs/promises";
import { KeyFileError, SecretStorageError } from "../../../errors.ts";
import type { KeyExportProgress, SecretStorage } from "../../../types.ts";
import {
  CliError,
  type Input,
  messageOf,
  STATUS,
  type Terminal,
  UsageError,
  withProgress,
} from "../io/mod.ts";
import {
  checkNew,
  openEncrypted,
  openPlain,
  readFile,
  readSettings,
  recoveryKeyOf,
  type Settings,
  textOf,
  writePrivate,
  writePrivateStream,
} from "../project/mod.ts";

/** Says whether a key opens what the account keeps: that of the settings, or one that is typed. */
export async function check({ flags, terminal }: Input): Promise<void> {
  const settings = await readSettings();
  const key = flags.has("typed")
    ? await terminal.askSecret({ message: "The recovery key?", otherwise: "use a terminal" })
    : flags.has("stdin")
    ? await terminal.readLine("the recovery key")
    : await recoveryKeyOf(settings);
  if (key === undefined) throw new CliError(NO_KEY, STATUS.NOT_LOGGED_IN);
  await using account = await openPlain(settings);
  try {
    using storage = await account.client.secretStorage.open({ recoveryKey: key.trim() });
    terminal.print(`The recovery key is right: it opens ${(await storage.names()).length} secrets`);
  } catch (error) {
    if (!(error instanceof SecretStorageError)) throw error;
    throw new CliError(messageOf(error), STATUS.REFUSED);
  }
}

/**
 * Changes the key. The new one is in a file of its own until the homeserver has taken it,
 * so that one of the two files opens the storage at each moment.
 */
export async function change({ terminal }: Input): Promise<void> {
  const settings = await readSettings();
  const path = keyFileOf(settings);
  const [old, begun] = [await recoveryKeyOf(settings), (await textOf(`${path}.new`))?.trim()];
  if (old === undefined) throw new CliError(NO_KEY, STATUS.NOT_LOGGED_IN);
  await using account = await openPlain(settings);
  const { secretStorage } = account.client;
  const isDone = begun !== undefined && await opens(secretStorage, begun); // cut off before the rename
  if (!isDone) {
    await secretStorage.changeKey({ recoveryKey: old }, {
      onRecoveryKey: (key) => writePrivate(`${path}.new`, `${key}\n`),
      ...begun === undefined ? {} : { recoveryKey: begun }, // cut off before the homeserver had all
    });
  }
  await putInPlace(path, terminal);
}

/** Has the new key take the place of the old one, and shows it at a terminal. */
export async function putInPlace(path: string, terminal: Terminal): Promise<void> {
  await rename(`${path}.new`, path);
  const recoveryKey = (await textOf(path))?.trim();
  if (!terminal.isInteractive) return terminal.note(`The new recovery key is in ${path}`);
  terminal.note(`The new recovery key, which is in ${path} too, and is not shown again:`);
  terminal.note("");
  terminal.note(`  ${recoveryKey}`);
  terminal.note("");
  terminal.note("Write it down. The old one opens nothing any more.");
}

/** Returns whether a key opens the secret storage. */
export async function opens(secretStorage: SecretStorage, recoveryKey: string): Promise<boolean> {
  try {
    using _storage = await secretStorage.open({ recoveryKey });
    return true;
  } catch (error) {
    if (error instanceof SecretStorageError) return false;
    throw error;
  }
}

const NO_KEY =
  "Cannot find the recovery key: neither MATRIX_RECOVERY_KEY nor the file of MATRIX_RECOVERY_KEY_FILE has one; " +
  "greenroom login makes it";

/** The file of the key. @throws {CliError} If it is in none. */
export function keyFileOf({ MATRIX_RECOVERY_KEY: key, MATRIX_RECOVERY_KEY_FILE: path }: Settings): string {
  if (key === undefined && path !== undefined) return path;
  if (key === undefined) throw new CliError(NO_KEY, STATUS.NOT_LOGGED_IN);
  throw new CliError(
    "Cannot change the recovery key: it is not in a file, so that a cut could lose it; set MATRIX_RECOVERY_KEY_FILE " +
      "in place of MATRIX_RECOVERY_KEY",
  );
}

/** Writes all keys into a file, encrypted with a passphrase. */
export async function exportKeys(input: Input): Promise<void> {
  const [path = ""] = input.args;
  await checkNew(path); // before anybody types
  await using account = await openEncrypted(await readSettings());
  const { crypto } = account.client;
  if (crypto === undefined) throw new CliError(NO_ENCRYPTION);
  await crypto.idle(); // which opens the store: a bot that runs has it
  const passphrase = await passphraseOf(input, "A passphrase for the file?");
  if (!input.flags.has("passphrase-stdin")) {
    const again = await passphraseOf(input, "The same once more?");
    if (again !== passphrase) {
      throw new UsageError("Cannot export the keys: the passphrases differ; try again");
    }
  }
  await withProgress(input.terminal, "Exporting keys", async (progress) => {
    const onProgress = ({ sessions }: KeyExportProgress) => progress.count(sessions);
    await writePrivateStream(path, crypto.exportKeys({ passphrase, onProgress }));
  });
  input.terminal.note(`The keys are in ${path}: who has it and the passphrase can read the rooms`);
}

/** Reads keys from a file. */
export async function importKeys(input: Input): Promise<void> {
  const [path = ""] = input.args;
  const file = await readFile(path);
  const passphrase = await passphraseOf(input, "The passphrase of the file?");
  await using account = await openEncrypted(await readSettings());
  const { crypto } = account.client;
  if (crypto === undefined) throw new CliError(NO_ENCRYPTION);
  try {
    const { total, added, improved, known, refused } = await withProgress(
      input.terminal,
      "Importing keys",
      (progress) => crypto.importKeys(file, { passphrase, onProgress: ({ part }) => progress.part(part) }),
    );
    input.terminal.print(
      `${total} keys: ${added} added, ${improved} improved, ${known} known, ${refused} refused`,
    );
  } catch (error) {
    throw error instanceof KeyFileError ? new CliError(messageOf(error)) : error;
  }
}

/** The client was made without it. */
export const NO_ENCRYPTION = "Cannot use keys: there is no encryption";

async function passphraseOf({ flags, terminal }: Input, message: string): Promise<string> {
  return await terminal.secret("passphrase", { message, isPiped: flags.has("passphrase-stdin") });
}
