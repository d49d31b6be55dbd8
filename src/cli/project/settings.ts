/**
 * The bot's folder: its `.env`, its recovery key, and files that only their owner may read.
 *
 * @module
 */

import { closeSync, createReadStream, openSync, renameSync, rmSync } from "node:fs";
import { open, readFile as readBytes, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { Readable } from "node:stream";
import { parseEnv } from "node:util";
import { parse as parseJsonc } from "@std/jsonc/parse";
import { misspelledVariable } from "../../errors/known_names.ts";
import { CliError, failedWith, isThere, STATUS, UsageError } from "../io/mod.ts";

/** What is in `.env`, as `Bot.fromEnv()` reads it. */
export type Settings = Readonly<Partial<Record<SettingName, string>>>;

/** The variables that a bot reads. */
const SETTING_NAMES = [
  ...["MATRIX_URL", "MATRIX_TOKEN", "MATRIX_USER", "MATRIX_PASSWORD"] as const,
  ...["MATRIX_RECOVERY_KEY", "MATRIX_RECOVERY_KEY_FILE", "MATRIX_STORE", "MATRIX_STORE_KEY_FILE"] as const,
  ...["MATRIX_ADMINS", "MATRIX_LOG", "MATRIX_WAKE_SECRET"] as const,
] as const;

export type SettingName = typeof SETTING_NAMES[number];

/** The file with the bot's settings, in the current folder. */
export const ENV_FILE = ".env";

/**
 * What is in `.env`; what the environment says counts more, as it does for `deno run --env-file`,
 * also if that is nothing.
 */
export async function readSettings(): Promise<Settings> {
  const all = Object.entries({ ...valuesIn(await textOf(ENV_FILE) ?? ""), ...process.env });
  const values = all.map(([name, value]) => [name, value?.trim()] as const);
  return Object.fromEntries(values.filter(([name, value]) => name.startsWith("MATRIX_") && value !== ""));
}

/** The values in a text like `.env`: of several for one variable the first, as Deno reads it. */
function valuesIn(text: string): Readonly<Record<string, string | undefined>> {
  const named = piecesIn(text).filter(([name]) => name.startsWith("MATRIX_"));
  const first = [...new Map(named.toReversed()).values()];
  return { ...parseEnv(text), ...parseEnv(first.join("\n")) };
}

/**
 * A line, or all lines of a value in quotation marks, with the variable that it sets; empty: it sets none.
 */
function piecesIn(text: string): (readonly [name: string, piece: string])[] {
  const lines = text.split("\n");
  const pieces: (readonly [name: string, piece: string])[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    const equals = line.indexOf("=");
    const name = line.slice(0, Math.max(equals, 0)).trim().replace(/^export[ \t]+/, "");
    const isSet = /^\w+$/.test(name);
    const value = isSet ? line.slice(equals + 1).trimStart() : "";
    const quote = value.charAt(0);
    const isOpen = quote !== "" && `"'\``.includes(quote) && !value.includes(quote, 1);
    const end = isOpen ? lines.findIndex((later, index) => index > at && later.includes(quote)) : at;
    const next = Math.max(end, at) + 1; // what never ends is a line
    pieces.push([isSet ? name : "", lines.slice(at, next).join("\n")]);
    at = next;
  }
  return pieces;
}

/**
 * Refuses a variable of the environment that the bot would take in place of a line of `.env`.
 *
 * @param wanted The value that may be there. Default:
 *   none, not even an empty one, which the bot would have then.
 * @throws {UsageError} It does not repeat the value, which may be a secret.
 */
export function refuseFromEnvironment(name: SettingName, wanted?: string): void {
  const value = process.env[name]?.trim();
  if (value === undefined || value === wanted) return;
  throw new UsageError(
    `Cannot change ${ENV_FILE}: ${name} is set in the environment, which the bot would use in its place; unset ${name}`,
  );
}

/**
 * Refuses a misspelled variable: the bot itself may not list its environment.
 *
 * @throws {UsageError} It names the variable that was meant.
 */
export function checkNamesOf(settings: Settings): void {
  const misspelled = misspelledVariable(Object.keys(settings), SETTING_NAMES);
  if (misspelled === undefined) return;
  const { name, meant } = misspelled;
  throw new UsageError(`Cannot use ${ENV_FILE}: there is no variable ${name}; did you mean ${meant}?`);
}

/** A setting that has to be there. @throws {CliError} If it is not. */
export function needed(settings: Settings, name: SettingName): string {
  const value = settings[name];
  if (value !== undefined) return value;
  throw new CliError(
    `Cannot find ${name}: it is neither in ${ENV_FILE} of this folder nor in the environment; change to the bot's ` +
      "folder, or log in there: greenroom login",
    STATUS.NOT_LOGGED_IN,
  );
}

/** The recovery key of the settings; undefined: there is none yet. */
export async function recoveryKeyOf(settings: Settings): Promise<string | undefined> {
  const { MATRIX_RECOVERY_KEY: key, MATRIX_RECOVERY_KEY_FILE: file } = settings;
  return key ?? (file === undefined ? undefined : (await textOf(file))?.trim() || undefined);
}

/** Changes variables in `.env`, and keeps all else; one that is undefined is taken out. */
export async function writeSettings(
  changes: Readonly<Partial<Record<SettingName, string | undefined>>>,
): Promise<void> {
  const text = await textOf(ENV_FILE) ?? "";
  const all: ReadonlyMap<string, string | undefined> = new Map(Object.entries(changes));
  const left = new Map(all);
  const kept = piecesIn(text).flatMap(([name, piece]) => {
    if (!all.has(name)) return [piece];
    const value = left.get(name);
    left.delete(name); // of several the first counts
    return value === undefined ? [] : [assignment(name, value)];
  });
  if (kept.at(-1) === "") kept.pop();
  const added = [...left].flatMap(([name, value]) => value === undefined ? [] : [assignment(name, value)]);
  await writePrivate(ENV_FILE, `${[...kept, ...added].join("\n")}\n`);
}

function assignment(name: string, value: string): string {
  if (/^[\w@:./+=~,-]*$/.test(value)) return `${name}=${value}`;
  if (/['\n\r]/.test(value)) {
    throw new CliError(`Cannot write ${ENV_FILE}: ${name} has a quotation mark or a line break in it`);
  }
  return `${name}='${value}'`;
}

/** Writes a file that only its owner may read, in one step: it is whole, or as it was. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const draft = draftOf(path);
  await writeDraft(draft, (write) => write(new TextEncoder().encode(text)), () => rename(draft, path));
}

/**
 * Writes a stream into a new file that only its owner may read;
 * what is cut off, by a signal too, leaves no file.
 */
export async function writePrivateStream(
  path: string,
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<void> {
  await checkNew(path);
  const draft = draftOf(path);
  using _ = atEnding((status) => {
    remove(draft);
    process.exit(status);
  });
  await writeDraft(draft, async (write) => {
    for await (const bytes of stream) await write(bytes);
  }, () => renameToNew(draft, path));
}

/** Renames in one turn, which no signal cuts in two. Not by a link: some file systems have none. */
function renameToNew(draft: string, path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    throw failedWith(error, "EEXIST") ? thereAlready(path) : error;
  }
  try {
    renameSync(draft, path);
  } catch (error) {
    remove(path);
    throw error;
  }
}

/** Acts in place of the signals that end a process, with the status that it ends with. */
export function atEnding(act: (status: number) => void): Disposable {
  const listeners = Object.entries(ENDINGS).map(([signal, status]) =>
    [signal as NodeJS.Signals, () => act(status)] as const
  );
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return {
    [Symbol.dispose]() {
      for (const [signal, listener] of listeners) process.off(signal, listener);
    },
  };
}

/** Makes sure that there is nothing at a path. */
export async function checkNew(path: string): Promise<void> {
  if (!await isThere(path)) return;
  throw thereAlready(path);
}

function thereAlready(path: string): CliError {
  return new CliError(`Cannot write ${path}: it is there already; name another file`);
}

function draftOf(path: string): string {
  return join(dirname(path), `.${crypto.randomUUID()}.tmp`);
}

/** Writes a draft, and has it take its place once it is whole. */
async function writeDraft(
  draft: string,
  fill: (write: (bytes: Uint8Array<ArrayBuffer>) => Promise<void>) => Promise<void>,
  place: () => Promise<void> | void,
): Promise<void> {
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await fill(async (bytes) => {
        for (let written = 0; written < bytes.length;) {
          written += (await file.write(bytes.subarray(written))).bytesWritten;
        }
      });
      await file.sync();
    } finally {
      await file.close();
    }
    await place(); // of a closed file, as Windows wants it
  } catch (error) {
    remove(draft);
    throw error;
  }
}

function remove(draft: string): void {
  try {
    rmSync(draft);
  } catch {
    // It was not made yet, or has taken its place.
  }
}

/** The signals that end a process, and the status of each. */
const ENDINGS: Readonly<Partial<Record<NodeJS.Signals, number>>> = process.platform === "win32"
  ? { SIGINT: STATUS.CANCELLED }
  : { SIGINT: STATUS.CANCELLED, SIGTERM: 143, SIGHUP: 129 };

/** The text of a file; undefined: there is none. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    await checkFile(path);
    return await readBytes(path, "utf8");
  } catch (error) {
    if (failedWith(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** What is in a file of JSON, which may have comments; undefined: there is no such file, or no JSON in it. */
export async function jsonIn(path: string): Promise<unknown> {
  const text = await textOf(path);
  if (text === undefined) return undefined;
  try {
    return parseJsonc(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** What is in the configuration of Deno of a folder: `deno.json` before `deno.jsonc`, as Deno reads them. */
export async function denoJsonIn(folder: string): Promise<unknown> {
  return await jsonIn(join(folder, "deno.json")) ?? await jsonIn(join(folder, "deno.jsonc"));
}

/** What is in an object; undefined: nothing, or it is none. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, name) => Object(inner)[name], value);
}

/** Opens a file to read it; a folder is refused by name, not at the first byte. */
export async function readFile(path: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  await checkFile(path).catch((error) => {
    throw failedWith(error, "ENOENT") ? new CliError(`Cannot read ${path}: there is no such file`) : error;
  });
  return Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Makes sure that there is a file, and no folder. */
async function checkFile(path: string): Promise<void> {
  if ((await stat(path)).isDirectory()) {
    throw new CliError(`Cannot read ${path}: it is a folder; name a file`);
  }
}
