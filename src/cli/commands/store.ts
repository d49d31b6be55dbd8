/**
 * `greenroom store`: what is in the bot's store, and how it moves.
 *
 * @module
 */

import { exportDevice, importDevice, inspectDevice, listDevices } from "../../../mod.ts";
import { CliError, type Input, STATUS } from "../io/mod.ts";
import {
  checkNew,
  needed,
  openEncrypted,
  openPlain,
  openStore,
  readFile,
  readSettings,
  type Settings,
  textOf,
  writePrivate,
  writePrivateStream,
} from "../project/mod.ts";

/** Counts what is stored of each device, also while the bot runs. */
export async function inspect({ flags, terminal }: Input): Promise<void> {
  const path = needed(await readSettings(), "MATRIX_STORE");
  if (await Deno.stat(path).catch(() => undefined) === undefined) {
    throw new CliError(
      `Cannot open the store ${path}: there is none; greenroom login makes it`,
      STATUS.STORE,
    );
  }
  await using store = await openStore(path);
  for await (const device of listDevices(store)) {
    const inspection = await inspectDevice(store, device);
    if (flags.has("json")) {
      terminal.print(JSON.stringify(inspection));
      continue;
    }
    const { mxid, deviceId, records, bytes, kinds, schema, holder } = inspection;
    const version = schema === undefined ? "" : `, of version ${schema}`;
    terminal.print(`${mxid}  ${deviceId}  ${records} records, ${kibibytes(bytes)}${version}`);
    if (holder !== undefined) {
      terminal.print(`  held by ${holder.owner} until ${new Date(holder.until).toISOString()}`);
    }
    for (const [kind, amount] of Object.entries(kinds)) {
      terminal.print(`  ${kind.padEnd(16)}${String(amount.records).padStart(8)}  ${kibibytes(amount.bytes)}`);
    }
  }
}

/** Writes the device of the settings into a file. */
export async function exportStore({ args, values, terminal }: Input): Promise<void> {
  const [path = ""] = args;
  await checkNew(path);
  const settings = await readSettings();
  const device = await deviceOf(settings);
  await using store = await openStore(needed(settings, "MATRIX_STORE"));
  const key = values["key-file"] === undefined ? undefined : await keyIn(values["key-file"], { makes: true });
  await writePrivateStream(path, exportDevice(store, { ...device, key }));
  terminal.note(
    `The device ${device.deviceId} is in ${path}. Once it was imported elsewhere, never run it here again.`,
  );
  terminal.note(
    key === undefined
      ? "The file has private keys in clear: only you can read it. --key-file encrypts it."
      : `It can be read with ${values["key-file"]} alone.`,
  );
}

/** Reads a device from a file into the store of the settings. */
export async function importStore({ args, values, terminal }: Input): Promise<void> {
  const [path = ""] = args;
  const file = await readFile(path);
  const settings = await readSettings();
  const key = values["key-file"] === undefined
    ? undefined
    : await keyIn(values["key-file"], { makes: false });
  await using store = await openStore(needed(settings, "MATRIX_STORE"));
  const { mxid, deviceId, records } = await importDevice(store, file, { key });
  terminal.note(
    `Imported ${mxid}, device ${deviceId}: ${records} records. Never run the bot on the original again.`,
  );
}

/** Removes what the bot no longer needs, as it does once a day. */
export async function prune({ terminal }: Input): Promise<void> {
  await using account = await openEncrypted(await readSettings());
  const { removed } = await account.client.prune();
  const entries = Object.entries(removed).filter(([, count]) => count > 0);
  for (const [kind, count] of entries) terminal.print(`${kind.padEnd(24)}${String(count).padStart(8)}`);
  if (entries.length === 0) terminal.note("There was nothing to remove");
}

/** The device that the token is of. */
async function deviceOf(settings: Settings) {
  await using account = await openPlain(settings);
  const { user_id: mxid, device_id: deviceId } = await account.client.whoami();
  if (deviceId !== undefined) return { mxid, deviceId };
  throw new CliError("Cannot export the device: the token has none", STATUS.NOT_LOGGED_IN);
}

/** The key in a file: 32 bytes as Base64. */
async function keyIn(path: string, { makes }: { readonly makes: boolean }): Promise<Uint8Array> {
  const text = (await textOf(path))?.trim();
  if (text !== undefined) {
    const key = /^[A-Za-z\d+/]{43}=$/.test(text) ? Uint8Array.fromBase64(text) : new Uint8Array();
    if (key.length === 32) return key;
    throw new CliError(`Cannot use the key in ${path}: it is not 32 bytes as Base64`);
  }
  if (!makes) throw new CliError(`Cannot use the key in ${path}: there is no such file`);
  const key = crypto.getRandomValues(new Uint8Array(32));
  await writePrivate(path, `${key.toBase64()}\n`);
  return key;
}

function kibibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}
