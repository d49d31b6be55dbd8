/**
 * `greenroom`, the command line: makes, logs in, runs and looks after bots.
 *
 * ```sh
 * deno run -A jsr:@greenroom/matrix/cli new bot     # or install it:
 * deno install -gA -n greenroom jsr:@greenroom/matrix/cli
 * ```
 *
 * The npm package has it as `greenroom`: `npx greenroom`.
 *
 * @module
 */

import process from "node:process";
import { COMMANDS } from "./commands.ts";
import {
  findCommand,
  helpOf,
  helpOfAll,
  messageOf,
  parseCommand,
  STATUS,
  statusOf,
  Terminal,
  unknownCommand,
} from "./io/mod.ts";

async function main(given: readonly string[], terminal: Terminal): Promise<number> {
  const args = given[0] === "help" ? [...given.slice(1), "--help"] : given;
  if (args[0] === "--version") {
    terminal.print((await import("./project/mod.ts")).VERSION);
    return STATUS.DONE;
  }
  const found = findCommand(COMMANDS, args);
  const own = args.slice(0, args.includes("--") ? args.indexOf("--") : undefined);
  const wantsHelp = own.includes("--help") || own.includes("-h");
  if (found === undefined) {
    const group = COMMANDS.filter(({ name }) => name.startsWith(`${args[0]} `));
    const help = helpOfAll(group.length > 0 ? group : COMMANDS, terminal.columns);
    if (wantsHelp) return terminal.print(help), STATUS.DONE;
    if (args.length === 0 || group.length > 0) return terminal.note(help), STATUS.USAGE;
    throw unknownCommand(COMMANDS, args);
  }
  if (wantsHelp) return terminal.print(helpOf(found.command, terminal.columns)), STATUS.DONE;
  const hasMore = COMMANDS.some(({ name }) => name.startsWith(`${found.command.name} `));
  if (hasMore && /^\w/.test(found.args[0] ?? "")) throw unknownCommand(COMMANDS, args);
  const input = parseCommand(found.command, found.args, terminal);
  const { run } = await found.command.load();
  return await run(input) ?? STATUS.DONE;
}

if (import.meta.main) {
  const terminal = new Terminal();
  try {
    process.exit(await main(process.argv.slice(2), terminal) || process.exitCode); // that of a signal
  } catch (error) {
    terminal.note(`greenroom: ${messageOf(error)}`);
    process.exit(statusOf(error));
  }
}
