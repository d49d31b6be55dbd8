/**
 * `greenroom`, the command line: makes, logs in, runs and looks after bots.
 * Each command is loaded when it is run.
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
import {
  type CommandSpec,
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

const JSON_LINES = { about: "Prints a JSON object a line" };

const PASSPHRASE = {
  "passphrase-stdin": { about: "Reads the passphrase from the first line of standard input" },
};

/** All commands, in the order of the help. */
const COMMANDS: readonly CommandSpec[] = [
  {
    name: "new",
    args: "[folder]",
    summary: "Makes the folder of a bot that works",
    about: "It asks for what is not given: the folder, the bot's user ID, and yours, as its admin.",
    options: {
      user: { value: "user ID", about: "The bot's user ID, like @bot:example.org" },
      admin: { value: "user ID", about: "The user ID of the bot's admin, which is yours" },
      homeserver: {
        value: "address",
        about: "The homeserver's address or server name. Default: the login looks it up",
      },
    },
    load: () => import("./commands/new.ts"),
  },
  {
    name: "login",
    summary: "Logs the bot in, and has its device signed",
    about:
      "It asks for the password, finds the homeserver by the user ID, makes the store and the recovery key, and " +
      "writes the token to .env. The password is not kept.",
    options: {
      user: { value: "user ID", about: "The bot's user ID. Default: MATRIX_USER of .env" },
      homeserver: {
        value: "address",
        about: "The homeserver's address or server name. Default: it is looked up",
      },
      "password-stdin": { about: "Reads the password from the first line of standard input" },
      "token-stdin": { about: "Reads an access token from there, of a login of the bot's own" },
      again: { about: "Logs in as a new device, though there is a login" },
    },
    load: () => import("./commands/login.ts"),
  },
  {
    name: "run",
    args: "[file]",
    passes: "more flags of deno run, or of node",
    summary: "Runs the bot, with the permissions it needs and no others",
    about: "It prints the command that it runs; permissions are Deno's. The file is bot.ts by default.",
    options: { watch: { about: "Starts the bot again when a file of it is saved" } },
    load: () => import("./commands/run.ts"),
  },
  {
    name: "doctor",
    summary: "Looks at settings, server, token, store and encryption, and says what to mend",
    options: { json: JSON_LINES },
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "verify",
    args: "[user]",
    summary: "Compares emoji with a user, or with another device, at the terminal",
    about:
      "Without a user it waits for a request. The bot has to be stopped; messages that come in between it does not " +
      "answer.",
    options: {
      room: { value: "room", about: "The chat to ask in. Default: the user's devices are asked" },
      qr: { about: "Shows a QR code, which the other device scans in place of comparing emoji" },
    },
    load: () => import("./commands/verify.ts"),
  },
  {
    name: "recovery check",
    summary: "Says whether the recovery key is right, also while the bot runs",
    options: {
      typed: { about: "Asks for the key, in place of that of .env: the copy that you have written down" },
      stdin: { about: "Reads the key from the first line of standard input" },
    },
    load: async () => ({ run: (await import("./commands/recovery.ts")).check }),
  },
  {
    name: "recovery change",
    summary: "Makes a new recovery key, shows it once, and keeps it in the file of the old one",
    load: async () => ({ run: (await import("./commands/recovery.ts")).change }),
  },
  {
    name: "recovery reset",
    summary: "Makes a new identity and recovery key, where the old key is lost; stop the bot first",
    about:
      "It says what is lost, and asks before it goes on. The homeserver wants the password, or an approval at a " +
      "page that it names.",
    options: {
      yes: { about: "Does not ask whether that is right" },
      "password-stdin": { about: "Reads the password from the first line of standard input" },
    },
    load: async () => ({ run: (await import("./commands/recovery_reset.ts")).reset }),
  },
  {
    name: "rooms",
    summary: "Lists the rooms that the bot is in, also while it runs",
    options: { json: JSON_LINES },
    load: async () => ({ run: (await import("./commands/rooms.ts")).rooms }),
  },
  {
    name: "rooms create",
    args: "[name]",
    summary: "Makes a room, and prints its ID, also while the bot runs",
    options: {
      encrypted: { about: "Encrypts it, from its first message on and for good" },
      invite: { value: "user ID", isList: true, about: "Invites a user; may be given more than once" },
    },
    load: async () => ({ run: (await import("./commands/rooms.ts")).create }),
  },
  {
    name: "join",
    args: "<room>",
    summary: "Joins a room, or accepts the invitation to it, also while the bot runs",
    options: {
      via: { value: "server", isList: true, about: "A server that is in the room, for one of other servers" },
    },
    load: async () => ({ run: (await import("./commands/rooms.ts")).join }),
  },
  {
    name: "members",
    args: "<room>",
    summary: "Lists who is in a room, also while the bot runs",
    options: { json: JSON_LINES },
    load: async () => ({ run: (await import("./commands/rooms.ts")).members }),
  },
  {
    name: "send",
    args: "<room> [text]",
    summary: "Sends a message as the bot, encrypted where the room is",
    about:
      "Without a text it sends what standard input says. A text that begins with - stands behind --. For an " +
      "encrypted room the bot has to be stopped.",
    options: { notice: { about: "Sends it as bots do, as m.notice, which no other bot answers" } },
    load: async () => ({ run: (await import("./commands/rooms.ts")).send }),
  },
  {
    name: "chat",
    args: "<user|room>",
    summary: "Sends what you type, and prints what others say, until Ctrl-C",
    about:
      "With a user it is an encrypted direct chat, which is made if there is none. The bot has to be stopped. " +
      "To talk with the bot, log in as yourself in another folder.",
    load: () => import("./commands/chat.ts"),
  },
  {
    name: "listen",
    args: "[room]",
    summary: "Prints what is said in the bot's rooms, decrypted, until Ctrl-C",
    about: "The bot has to be stopped. What is shown here it does not answer when it runs again.",
    options: { json: JSON_LINES },
    load: () => import("./commands/rooms.ts"),
  },
  {
    name: "keys export",
    args: "<file>",
    summary: "Writes the keys of encrypted rooms into a file with a passphrase, as Element does",
    options: PASSPHRASE,
    load: async () => ({ run: (await import("./commands/recovery.ts")).exportKeys }),
  },
  {
    name: "keys import",
    args: "<file>",
    summary: "Reads keys of encrypted rooms from such a file, of Element too",
    options: PASSPHRASE,
    load: async () => ({ run: (await import("./commands/recovery.ts")).importKeys }),
  },
  {
    name: "store inspect",
    summary: "Counts what is in the store, also while the bot runs",
    options: { json: JSON_LINES },
    load: async () => ({ run: (await import("./commands/store.ts")).inspect }),
  },
  {
    name: "store export",
    args: "<file>",
    summary: "Writes the bot's device into a file, to move it; stop the bot first",
    options: {
      "key-file": {
        value: "file",
        about: "Encrypts with the key in a file, which is made if it is not there",
      },
    },
    load: async () => ({ run: (await import("./commands/store.ts")).exportStore }),
  },
  {
    name: "store import",
    args: "<file>",
    summary: "Reads a device from such a file into the store",
    options: { "key-file": { value: "file", about: "The key that the file was encrypted with" } },
    load: async () => ({ run: (await import("./commands/store.ts")).importStore }),
  },
  {
    name: "store seal",
    args: "<key-file>",
    summary: "Encrypts the store with a key in a file, and removes the one in clear; stop the bot first",
    about:
      "The file of the key is made if it is not there. The sealed store is another file; .env names both. Without " +
      "the key the store is lost.",
    load: () => import("./commands/store.ts"),
  },
  {
    name: "store prune",
    summary: "Removes from the store what the bot no longer needs, as it does itself once a day",
    load: async () => ({ run: (await import("./commands/store.ts")).prune }),
  },
  {
    name: "upgrade-check",
    summary: "Says whether this version can take over the bot's store, and changes nothing",
    options: { json: JSON_LINES },
    load: () => import("./commands/upgrade_check.ts"),
  },
  {
    name: "appservice register",
    args: "<id> <url> <server>",
    summary: "Makes the registration of an application service",
    about: "The URL is where the homeserver reaches it, the server is the homeserver's name.",
    options: {
      file: { value: "file", about: "Where it is written. Default: registration.yaml" },
      bot: { value: "localpart", about: "The bot's user name. Default: the ID" },
      "user-prefix": { value: "prefix", about: "What user names of its users begin with. Default: _<id>_" },
      "alias-prefix": { value: "prefix", about: "What its rooms' aliases begin with. Default: it has none" },
      encryption: { about: "Has the homeserver send what encryption needs" },
    },
    load: async () => ({ run: (await import("./commands/appservice.ts")).register }),
  },
  {
    name: "completions",
    args: "<shell>",
    summary: "Prints the completions for bash, zsh or fish; the first lines say where they go",
    load: async () => {
      const { complete } = await import("./commands/completions.ts");
      return { run: (input) => complete(COMMANDS, input) };
    },
  },
];

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
    const isMistyped = group.length > 0 ? /^\w/.test(args[1] ?? "") : args.length > 0;
    if (isMistyped) throw unknownCommand(group.length > 0 ? group : COMMANDS, args);
    return terminal.note(help), STATUS.USAGE;
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
