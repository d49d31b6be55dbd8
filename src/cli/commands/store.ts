/**
 * `greenroom store`: what is in the bot's store, and how it moves.
 *
 * @module
 */

import { exportDevice, importDevice, inspectDevice, listDevices } from "../../../mod.ts";
import { CliError, type Input, STATUS } from "../io/mod.ts";
import {
  checkNew,
  existingStore,
  keyIn,
  keyOrNew,
  needed,
  openEncrypted,
  openPlain,
  openStore,
  readFile,
  readSettings,
  type Settings,
  writePrivateStream,
} from "../project/mod.ts";

/** Counts what is stored of each device, also while the bot runs. */
export async function inspect({ flags, terminal }: Input): Promise<void> {
  const settings = await readSettings();
  const path = await existingStore(settings);
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
  await using store = await openStore(await existingStore(settings), settings);
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

/** The device that the token is of. */
async function deviceOf(settings: Settings) {
  await using account = await openPlain(settings);
  const { user_id: mxid, device_id: deviceId } = await account.client.whoami();
  if (deviceId !== undefined) return { mxid, deviceId };
  throw new CliError("Cannot export the device: the token has none", STATUS.NOT_LOGGED_IN);
}

function kibibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}
