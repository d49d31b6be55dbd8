/**
 * `greenroom store`: what is in the bot's store, and how it moves.
 *
 * @module
 */

import { dirname, join, parse, resolve } from "node:path";
import { exportDevice, importDevice, inspectDevice, listDevices, type Store } from "../../../mod.ts";
import { CliError, type Input, STATUS } from "../io/mod.ts";
import {
  checkNew,
  keyIn,
  needed,
  openEncrypted,
  openPlain,
  openStore,
  readFile,
  readSettings,
  refuseFromEnvironment,
  removeStore,
  type Settings,
  textOf,
  writePrivate,
  writePrivateStream,
  writeSettings,
} from "../project/mod.ts";

/** Counts what is stored of each device, also while the bot runs. */
export async function inspect({ flags, terminal }: Input): Promise<void> {
  const settings = await readSettings();
  const path = needed(settings, "MATRIX_STORE");
  if (await Deno.stat(path).catch(() => undefined) === undefined) {
    throw new CliError(
      `Cannot open the store ${path}: there is none; greenroom login makes it`,
      STATUS.STORE,
    );
  }
  await using store = await openStore(path, settings);
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
  await using store = await openStore(needed(settings, "MATRIX_STORE"), settings);
  const key = values["key-file"] === undefined ? undefined : await keyOrNew(values["key-file"]);
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
  const key = values["key-file"] === undefined ? undefined : await keyIn(values["key-file"]);
  await using store = await openStore(needed(settings, "MATRIX_STORE"), settings);
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

/**
 * Seals the store: into another file, which takes its place in `.env` once it is whole; then the old one is removed.
 */
export async function seal({ args, terminal }: Input): Promise<void> {
  const [keyFile = ""] = args;
  const settings = await readSettings();
  const path = needed(settings, "MATRIX_STORE");
  if (settings.MATRIX_STORE_KEY_FILE !== undefined) {
    throw new CliError(
      `Cannot seal the store: it is sealed with the key in ${settings.MATRIX_STORE_KEY_FILE}`,
    );
  }
  refuseFromEnvironment("MATRIX_STORE");
  const { dir, name, ext } = parse(path);
  const sealedPath = join(dir, `${name}.sealed${ext}`);
  await checkNew(sealedPath);
  const sealing = { ...settings, MATRIX_STORE_KEY_FILE: keyFile };
  const isNewKey = await textOf(keyFile) === undefined;
  await keyOrNew(keyFile);
  try {
    await using from = await openStore(path, settings);
    await using to = await openStore(sealedPath, sealing);
    await copyAll(from, to);
    await writeSettings({ MATRIX_STORE: sealedPath, MATRIX_STORE_KEY_FILE: keyFile });
  } catch (error) {
    await removeStore(sealedPath);
    if (isNewKey) await Deno.remove(keyFile);
    throw error;
  }
  await removeStore(path);
  terminal.note(`The store is sealed, in ${sealedPath}, and ${path} is removed.`);
  terminal.note(
    `The key is in ${keyFile}: without it the store is lost, so keep a copy of it in a safe place.`,
  );
  if (resolve(dirname(keyFile)) !== resolve(dirname(path))) return;
  terminal.note(
    "It lies beside the store: who takes that folder has both. Move it, and set MATRIX_STORE_KEY_FILE.",
  );
}

/** Copies devices as a move does, which refuses one that a bot has, and then what is the account's. */
async function copyAll(from: Store, to: Store): Promise<void> {
  const devices = await Array.fromAsync(listDevices(from));
  for (const device of devices) await importDevice(to, exportDevice(from, device));
  for await (const { key, value } of from.list([])) {
    const isDevices = devices.some(({ mxid, deviceId }) => key[0] === mxid && key[1] === deviceId);
    if (!isDevices) await to.commit([{ type: "set", key, value }]);
  }
}

/** The device that the token is of. */
async function deviceOf(settings: Settings) {
  await using account = await openPlain(settings);
  const { user_id: mxid, device_id: deviceId } = await account.client.whoami();
  if (deviceId !== undefined) return { mxid, deviceId };
  throw new CliError("Cannot export the device: the token has none", STATUS.NOT_LOGGED_IN);
}

/** The key in a file, which is made if it is not there. */
async function keyOrNew(path: string): Promise<Uint8Array> {
  if (await textOf(path) !== undefined) return await keyIn(path);
  const key = crypto.getRandomValues(new Uint8Array(32));
  await writePrivate(path, `${key.toBase64()}\n`);
  return key;
}

function kibibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}
