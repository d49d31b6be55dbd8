/**
 * `greenroom keys`: the keys of encrypted rooms, in the file that Element reads and writes too.
 *
 * @module
 */

import { KeyFileError } from "../../../errors.ts";
import { CliError, type Input, UsageError } from "../io/mod.ts";
import { checkNew, openEncrypted, readFile, readSettings, writePrivateStream } from "../project/mod.ts";

/** Writes all keys into a file, encrypted with a passphrase. */
export async function exportKeys(input: Input): Promise<void> {
  const [path = ""] = input.args;
  await checkNew(path); // before anybody types
  const passphrase = await passphraseOf(input, "A passphrase for the file?");
  if (!input.flags.has("passphrase-stdin")) {
    const again = await passphraseOf(input, "The same once more?");
    if (again !== passphrase) {
      throw new UsageError("Cannot export the keys: the passphrases differ; try again");
    }
  }
  await using account = await openEncrypted(await readSettings());
  const { crypto } = account.client;
  if (crypto === undefined) throw new CliError(NO_ENCRYPTION);
  await writePrivateStream(path, crypto.exportKeys({ passphrase }));
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
    const { total, added, improved, known, refused } = await crypto.importKeys(file, { passphrase });
    input.terminal.print(
      `${total} keys: ${added} added, ${improved} improved, ${known} known, ${refused} refused`,
    );
  } catch (error) {
    throw error instanceof KeyFileError ? new CliError(error.message) : error;
  }
}

const NO_ENCRYPTION = "Cannot use keys: there is no encryption";

async function passphraseOf({ flags, terminal }: Input, message: string): Promise<string> {
  if (flags.has("passphrase-stdin")) return await terminal.readLine("the passphrase");
  return await terminal.askSecret({ message, otherwise: "give --passphrase-stdin" });
}
