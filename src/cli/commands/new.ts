/**
 * `greenroom new`: the folder of a bot that works.
 *
 * @module
 */

import { readdirSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { isUserId } from "../../../mod.ts";
import { CliError, failedWith, type Input, RUNTIME, type Terminal, UsageError } from "../io/mod.ts";
import { filesOf, type Project, writePrivate } from "../project/mod.ts";

/** Asks for all that is not given, and then writes. */
export async function run({ args, values, terminal }: Input): Promise<void> {
  const asks = args[0] === undefined || (terminal.isInteractive && Object.keys(values).length === 0);
  const given = args[0] ?? await terminal.ask({
    message: "Which folder shall the bot be in? (like bot)",
    otherwise: "name the folder: greenroom new <folder>",
    placeholder: "bot",
  });
  const folder = resolve(given);
  checkEmpty(folder, given);
  const user = await userId("user", "The bot's user ID? (like @bot:example.org; Enter: later)");
  const admin = await userId("admin", "Your own user ID, as the bot's admin? (Enter: nobody)");
  const { homeserver } = values;
  if (homeserver !== undefined && !/^\S+$/.test(homeserver)) {
    throw new UsageError(
      "Cannot make the bot: --homeserver takes an address like https://matrix.example.org",
    );
  }
  const checkout = RUNTIME === "deno" ? checkoutOf(import.meta.url) : undefined;
  const project = { runtime: RUNTIME, folder, name: basename(folder), user, admin, checkout };
  await write(project, homeserver);
  tell(project, given, terminal);

  async function userId(name: "user" | "admin", message: string): Promise<string | undefined> {
    const value = values[name];
    if (value === undefined) {
      if (!asks) return undefined;
      return await terminal.ask({ message, otherwise: `give --${name}`, optional: true, check }) || undefined;
    }
    if (check(value) === undefined) return value;
    throw new UsageError(`Cannot make the bot: --${name} takes a user ID like @bot:example.org`);
  }
}

function check(value: string): string | undefined {
  return isUserId(value) ? undefined : "A user ID looks like @bot:example.org";
}

function checkEmpty(folder: string, given: string): void {
  try {
    if (readdirSync(folder).length > 0) {
      throw new CliError(`Cannot make a bot in ${given}: it is not empty; name a new folder`);
    }
  } catch (error) {
    if (failedWith(error, "ENOTDIR")) {
      throw new CliError(`Cannot make a bot in ${given}: it is a file; name a new folder`);
    }
    if (!failedWith(error, "ENOENT")) throw error;
  }
}

/** The folder of the checkout that a file is in; undefined: it is of the published package. */
function checkoutOf(url: string): string | undefined {
  return url.startsWith("file:") ? fileURLToPath(new URL("../../..", url)).replace(/[/\\]$/, "") : undefined;
}

async function write(project: Project, homeserver: string | undefined): Promise<void> {
  const { folder, user, admin } = project;
  await mkdir(join(folder, "data"), { recursive: true });
  await chmod(join(folder, "data"), 0o700).catch(() => undefined); // Windows has no modes
  for (const [name, text] of Object.entries(filesOf(project))) {
    await writeFile(join(folder, name), text, { flag: "wx" });
  }
  const lines = [
    "# What Bot.fromEnv() reads. Keep it to yourself: the login adds the bot's token.",
    ...homeserver === undefined ? [] : [`MATRIX_URL=${homeserver}`],
    ...user === undefined ? [] : [`MATRIX_USER=${user}`],
    ...admin === undefined ? [] : [`MATRIX_ADMINS=${admin}`],
    "MATRIX_STORE=data/bot.db",
    "MATRIX_RECOVERY_KEY_FILE=data/recovery.key",
  ];
  await writePrivate(join(folder, ".env"), `${lines.join("\n")}\n`);
}

function tell({ runtime }: Project, given: string, terminal: Terminal): void {
  const isDeno = runtime === "deno";
  const greenroom = isDeno ? "greenroom" : "npx greenroom";
  terminal.note(`The bot is in ${given}. Next:`);
  terminal.note("");
  if (resolve(given) !== process.cwd()) {
    terminal.note(`  cd ${/^[\w./-]+$/.test(given) ? given : `'${given}'`}`);
  }
  if (!isDeno) terminal.note("  npm install");
  terminal.note(`  ${greenroom} login    # you need the bot's password`);
  terminal.note(`  ${greenroom} run`);
}
