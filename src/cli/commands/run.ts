/**
 * `greenroom run`: the bot in a process of its own, with the permissions it needs and no others.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname } from "node:path";
import process from "node:process";
import { CliError, type Input, RUNTIME, statOf, STATUS } from "../io/mod.ts";
import {
  addressOf,
  checkNamesOf,
  ENV_FILE,
  isLoggedIn,
  needed,
  readSettings,
  serverOf,
  type Settings,
  textOf,
} from "../project/mod.ts";

/** Runs the bot until it ends, and ends with its status. */
export async function run({ args, rest, flags, terminal }: Input): Promise<number> {
  const file = args[0] ?? "bot.ts";
  if (await textOf(file) === undefined) {
    throw new CliError(
      `Cannot run ${file}: there is no such file; change to the bot's folder, or name its file`,
    );
  }
  const settings = await readSettings();
  checkNamesOf(settings); // the bot may not list them
  await checkFolders(settings);
  if (settings.MATRIX_PASSWORD === undefined && !await isLoggedIn(settings)) needed(settings, "MATRIX_TOKEN");
  const envFile = await textOf(ENV_FILE) === undefined ? [] : [`--env-file=${ENV_FILE}`];
  const command = [
    ...RUNTIME === "deno" ? ["run", "--no-prompt"] : [],
    ...[...envFile, ...flags.has("watch") ? ["--watch"] : []],
    ...RUNTIME === "deno" ? await permissionsOf(settings) : [],
    ...[...rest, file],
  ];
  terminal.note(
    `${RUNTIME} ${command.map((word) => /^[\w@./:=,*[\]-]+$/.test(word) ? word : `'${word}'`).join(" ")}`,
  );
  const child = spawn(process.execPath, command, { stdio: "inherit" });
  const forward = (signal: NodeJS.Signals) => () => void child.kill(signal);
  if (process.platform !== "win32") process.on("SIGTERM", forward("SIGTERM")); // there is none there
  // A terminal sends it to both.
  process.on("SIGINT", terminal.isInput ? () => {} : forward("SIGINT"));
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
  });
}

/** Makes sure that the folders of the store and of the recovery key are there. */
async function checkFolders(settings: Settings): Promise<void> {
  for (const name of ["MATRIX_STORE", "MATRIX_RECOVERY_KEY_FILE"] as const) {
    const folder = dirname(settings[name] ?? ".");
    if (await statOf(folder) !== undefined) continue;
    const mend = settings.MATRIX_TOKEN === undefined
      ? "make it"
      : "bring it back, or log in as a new device: greenroom login --again";
    throw new CliError(
      `Cannot run the bot: the folder ${folder} of ${name} is not there; ${mend}`,
      STATUS.STORE,
    );
  }
}

/** The flags of Deno that a bot with these settings needs. */
async function permissionsOf(settings: Settings): Promise<string[]> {
  const folders = [settings.MATRIX_STORE, settings.MATRIX_RECOVERY_KEY_FILE]
    .filter((path) => path !== undefined)
    .map((path) => dirname(path));
  const list = [...new Set(folders)].join(",");
  const read = [...new Set([...folders, settings.MATRIX_STORE_KEY_FILE ?? []].flat())].join(",");
  return [
    `--allow-net=${(await hostsOf(settings)).join(",")}`,
    "--allow-env=MATRIX_*",
    ...list === "" ? [] : [`--allow-read=${read}`, `--allow-write=${list}`],
  ];
}

async function hostsOf(settings: Settings): Promise<string[]> {
  const { MATRIX_URL: url, MATRIX_TOKEN, MATRIX_PASSWORD } = settings;
  const name = url ?? serverOf(needed(settings, "MATRIX_USER"));
  const baseUrl = await addressOf(name);
  const asked = /^https?:/i.test(name) ? [] : [name.replace(/:\d+$/, "")]; // where the homeserver is
  const hasSession = MATRIX_TOKEN === undefined && MATRIX_PASSWORD === undefined;
  const tokens = hasSession ? [await tokenEndpointOf(baseUrl)] : [];
  return [...new Set([...asked, ...[baseUrl, ...tokens].map(hostOf)])];
}

/** Where a session in the store gets new tokens. */
async function tokenEndpointOf(baseUrl: string): Promise<string> {
  const { getAuthMetadata } = await import("../../oauth/mod.ts");
  return (await getAuthMetadata({ baseUrl, log: false })).token_endpoint;
}

function hostOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) throw new CliError("Cannot run the bot: MATRIX_URL is no address", STATUS.USAGE);
  return parsed.host;
}
