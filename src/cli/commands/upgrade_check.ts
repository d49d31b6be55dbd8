/**
 * `greenroom upgrade-check`: whether this version can take over the bot of this folder. It asks nobody, and
 * changes nothing.
 *
 * @module
 */

import { join } from "node:path";
import { listDevices, type Store } from "../../../mod.ts";
import type { StoredDevice } from "../../../types.ts";
import { readSchema, SCHEMA_VERSION } from "../../store/device/mod.ts";
import { type Input, shown, statOf } from "../io/mod.ts";
import { denoJsonIn, jsonIn, openStore, readSettings, valueAt, VERSION } from "../project/mod.ts";
import { failed, type Finding, report } from "./doctor.ts";

const PACKAGE = "@greenroom/matrix";

/** Looks at the folder and its store. */
export async function run(input: Input): Promise<number> {
  return await report(examine(), input);
}

async function* examine(): AsyncGenerator<Finding> {
  yield { level: "ok", code: "version", message: `This is the check for Greenroom ${VERSION}` };
  const used = await usedVersion();
  yield used === undefined
    ? {
      level: "warning",
      code: "project",
      message: `Nothing in this folder says which version of ${PACKAGE} it uses`,
      mend: "Change to the bot's folder",
    }
    : { level: "ok", code: "project", message: `The bot uses ${shown(used)}` };
  const settings = await readSettings();
  const { MATRIX_STORE: path } = settings;
  if (path === undefined || await statOf(path) === undefined) {
    yield {
      level: "warning",
      code: "store-missing",
      message: path === undefined ? "MATRIX_STORE is not set" : `There is no store at ${path}`,
      mend: "Change to the bot's folder; a bot that has none yet has nothing to lose",
    };
    return;
  }
  try {
    await using store = await openStore(path, settings);
    for await (const device of listDevices(store)) yield* deviceFindings(store, device);
  } catch (error) {
    yield failed("store", error);
  }
}

/** Looks at what the store has of a device. */
async function* deviceFindings(store: Store, { mxid, deviceId }: StoredDevice): AsyncGenerator<Finding> {
  const version = await readSchema(store, [mxid, deviceId]) ?? SCHEMA_VERSION;
  const about = `The store has ${mxid}, device ${deviceId}, in version ${version}`;
  yield version === SCHEMA_VERSION
    ? { level: "ok", code: "schema", message: `${about}, which Greenroom ${VERSION} reads and keeps` }
    : {
      level: "warning",
      code: "schema-older",
      message:
        `${about}, which Greenroom ${VERSION} changes into version ${SCHEMA_VERSION} at its first start`,
      mend: "Stop the bot, and copy the store: an older Greenroom does not open it after that",
    };
  const names = Object.entries(await storedNames(store, [mxid, deviceId])).filter(([, { size }]) => size > 0);
  if (names.length === 0) return;
  const said = names.map(([kind, found]) => `${kind} ${[...found].sort().join(", ")}`).join("; ");
  yield { level: "ok", code: "names", message: `Names that your program has to keep: ${shown(said)}` };
}

/** The strings of the program that are stored, by what they name. */
async function storedNames(store: Store, device: readonly [mxid: string, deviceId: string]) {
  const found = {
    sessions: new Set<string>(),
    reminders: new Set<string>(),
    schedules: new Set<string>(),
    "commands that wait for an answer": new Set<string>(),
  };
  for await (const { key, value } of store.list([...device, "session"])) {
    const [name, first] = key.slice(3).map(String);
    const [kind, text] = name === "bot.schedules"
      ? ["schedules", first] as const
      : name === "bot.timers"
      ? ["reminders", at(value, "timer", "reminder", "name")] as const
      : name === "bot.conversations"
      ? ["commands that wait for an answer", at(value, "record", "command")] as const
      : ["sessions", /^(?:bot|greenroom)\./.test(name ?? "") ? undefined : name] as const;
    if (text !== undefined && text !== "") found[kind].add(text);
  }
  return found;
}

/** Which version of the module the folder uses, and what says so; undefined: nothing does. */
async function usedVersion(): Promise<string | undefined> {
  const installed = at(await jsonIn(join("node_modules", PACKAGE, "package.json")), "version");
  if (installed !== undefined) return `${installed}, as installed in node_modules`;
  const settings = await denoJsonIn(".");
  const links = valueAt(settings, "links");
  for (const link of Array.isArray(links) ? links.map(String) : []) {
    const linked = await denoJsonIn(link);
    if (at(linked, "name") === PACKAGE) return `${at(linked, "version")}, a checkout at ${link}`;
  }
  const specifiers = valueAt(await jsonIn("deno.lock"), "specifiers");
  const locked = Object.entries(specifiers ?? {}).find(([name]) => name.startsWith(`jsr:${PACKAGE}@`));
  if (locked !== undefined) return `${locked[1]}, as deno.lock has it`;
  const wanted = at(settings, "imports", PACKAGE) ??
    at(await jsonIn("package.json"), "dependencies", PACKAGE);
  return wanted && `what ${wanted} gives: no file pins it`;
}

/** A text in an object; undefined: there is none. */
function at(value: unknown, ...path: readonly string[]): string | undefined {
  const end = valueAt(value, ...path);
  return typeof end === "string" ? end : undefined;
}
