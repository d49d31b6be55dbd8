/**
 * `greenroom store`: what is in the bot's store, and how it moves; with `seal` into another file, encrypted,
 * in place of the one in clear.
 *
 * @module
 */

import { lstat, realpath, rm } from "node:fs/promises";
import { dirname, join, parse, resolve } from "node:path";
import { exportDevice, importDevice, inspectDevice, listDevices } from "../../../mod.ts";
import type { DeviceCopyProgress } from "../../../types.ts";
import { warningOfOthers } from "../../store/files/files.ts";
import {
  CancelledError,
  CliError,
  type Input,
  isThere,
  messageOf,
  statOf,
  STATUS,
  UsageError,
  withProgress,
} from "../io/mod.ts";
import {
  atEnding,
  checkNew,
  existingStore,
  isMovedAway,
  keyIn,
  keyOrNew,
  moveAll,
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
  writePrivateStream,
  writeSettings,
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
    const width = Math.max(0, ...Object.keys(kinds).map(({ length }) => length));
    for (const [kind, amount] of Object.entries(kinds)) {
      terminal.print(
        `  ${kind.padEnd(width)}${String(amount.records).padStart(8)}  ${kibibytes(amount.bytes)}`,
      );
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
  await withProgress(terminal, "Exporting records", async (progress) => {
    const onProgress = ({ records }: DeviceCopyProgress) => progress.count(records);
    await writePrivateStream(path, exportDevice(store, { ...device, key, onProgress }));
  });
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
  const size = (await statOf(path))?.size ?? 0; // 0: a pipe, which does not say
  const { mxid, deviceId, records } = await withProgress(
    terminal,
    "Importing records",
    (progress) =>
      importDevice(store, file, {
        key,
        onProgress: ({ records, bytes }) => size > 0 ? progress.part(bytes / size) : progress.count(records),
      }),
  );
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

/** Which files it is about. */
interface Files {
  /** The store in clear. */
  readonly path: string;
  /** The same, where it is itself, not a link to it. */
  readonly target: string;
  readonly sealedPath: string;
  readonly keyFile: string;
  /** Whether an earlier try has moved the store, and was cut off before `.env` named the new one. */
  readonly isMoved: boolean;
}

/** Seals the store: into another file, which takes its place in `.env` once it is whole. */
export async function run({ args, terminal }: Input): Promise<void> {
  const settings = await readSettings();
  const files = await filesOf(settings, args[0] ?? "");
  const { path, target, sealedPath, keyFile } = files;
  await (files.isMoved ? endMove : move)(settings, files);
  try {
    await removeStore(target);
    if (path !== target) await rm(path);
  } catch (error) {
    throw new CliError(
      `The store is sealed, in ${sealedPath}, but the one in clear is still in ${target}: ${
        messageOf(error)
      }; remove it, with the files whose names begin so`,
      STATUS.STORE,
      { cause: error },
    );
  }
  terminal.note(`The store is sealed, in ${sealedPath}, and ${path} is removed.`);
  terminal.note(
    `The key is in ${keyFile}: without it the store is lost, so keep a copy of it in a safe place.`,
  );
  if (resolve(dirname(keyFile)) !== resolve(dirname(path))) return;
  terminal.note(
    "It lies beside the store: who takes that folder has both. Move it, and set MATRIX_STORE_KEY_FILE.",
  );
}

/** The files, once it is certain that they can be used. */
async function filesOf(settings: Settings, keyFile: string): Promise<Files> {
  if (settings.MATRIX_STORE_KEY_FILE !== undefined) {
    throw new CliError(
      `Cannot seal the store: it is sealed with the key in ${settings.MATRIX_STORE_KEY_FILE}`,
    );
  }
  const path = await existingStore(settings);
  refuseFromEnvironment("MATRIX_STORE");
  refuseFromEnvironment("MATRIX_STORE_KEY_FILE");
  const target = (await lstat(path)).isSymbolicLink() ? await realpath(path) : path;
  const { dir, name, ext } = parse(target);
  const sealedPath = join(dir, `${name}.sealed${ext}`);
  const isMoved = await isThere(sealedPath);
  if (isMoved && !await hasMoved(path, settings)) {
    throw new CliError(
      `Cannot seal the store: ${sealedPath} is there already; if it was left by a try that was cut off, remove it`,
    );
  }
  if (resolve(keyFile) === resolve(sealedPath)) {
    throw new UsageError(
      `Cannot write the key into ${keyFile}: the sealed store will be there; name another file`,
    );
  }
  if (!await isThere(dirname(keyFile))) {
    throw new CliError(`Cannot write the key into ${keyFile}: its folder is not there; make the folder`);
  }
  const warning = warningOfOthers([keyFile]);
  if (warning !== undefined) throw new CliError(`Cannot seal the store: ${warning}`);
  return { path, target, sealedPath, keyFile, isMoved };
}

/** Moves all into the sealed store; if that fails, or a signal ends it, all is as it was. */
async function move(settings: Settings, { path, sealedPath, keyFile }: Files): Promise<void> {
  const ending = new AbortController();
  using _ = atEnding((status) => ending.abort(new CancelledError(status)));
  const isNewKey = await textOf(keyFile) === undefined;
  await keyOrNew(keyFile);
  const changes = changesFor({ sealedPath, keyFile });
  try {
    await using from = await openStore(path, settings);
    await using to = await openStore(sealedPath, { ...settings, ...changes });
    await moveAll(from, to, { settle: () => writeSettings(changes), signal: ending.signal });
  } catch (error) {
    await removeStore(sealedPath).catch(() => undefined); // its error is the one to report
    if (isNewKey) await rm(keyFile, { force: true }).catch(() => undefined);
    throw error;
  }
}

/**
 * Ends what was cut off: all is in the sealed store, so that it only has to take the place of the other one.
 */
async function endMove(settings: Settings, files: Files): Promise<void> {
  const changes = changesFor(files);
  const store = await openStore(files.sealedPath, { ...settings, ...changes }); // only its own key opens it
  await store[Symbol.asyncDispose]();
  await writeSettings(changes);
}

function changesFor({ sealedPath, keyFile }: Pick<Files, "sealedPath" | "keyFile">) {
  return { MATRIX_STORE: sealedPath, MATRIX_STORE_KEY_FILE: keyFile } as const;
}

async function hasMoved(path: string, settings: Settings): Promise<boolean> {
  await using store = await openStore(path, settings);
  return await isMovedAway(store);
}
