/**
 * A person at a terminal, with nothing but the command line and somebody to talk to.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { ENTRY, Place, plainEnv } from "../../../cli/support/greenroom.ts";
import { within } from "../../support/deadline.ts";
import { missing } from "../../support/synapse.ts";
import { type TerminalOptions, TerminalProcess } from "./terminal.ts";

/** Runs `greenroom` in a terminal. */
export function atTerminal(args: readonly string[], where: TerminalOptions): TerminalProcess {
  const program = [Deno.execPath(), "run", "-A", "--no-check", "--quiet", ENTRY, ...args];
  return new TerminalProcess(program, { env: { ...plainEnv(), NO_COLOR: "1", TERM: "xterm" }, ...where });
}

/** Defines a test with a bot that has logged in; without Python, which makes terminals, it is skipped. */
export function terminalTest(name: string, test: (place: Place) => Promise<void>): void {
  Deno.test({
    name,
    ignore: missing,
    async fn() {
      await using place = await Place.make();
      await place.makeLoggedInBot();
      await test(place);
    },
  });
}

/** A folder, in which `greenroom` is run in a terminal. */
export class Desk implements AsyncDisposable {
  readonly parent: string = Deno.makeTempDirSync({ prefix: "greenroom-desk-" });
  readonly folder: string = `${this.parent}/bot`;

  greenroom(args: readonly string[], cwd = this.folder, columns?: number): TerminalProcess {
    return atTerminal(args, { cwd, columns });
  }

  /** Makes the bot's folder, as a person does. */
  async makeBot(user: string): Promise<void> {
    await using made = this.greenroom(["new"], this.parent);
    await answerNew(made, user);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.parent, { recursive: true });
  }
}

/** Answers what `greenroom new` asks, until it has made the folder `bot`. */
export async function answerNew(made: TerminalProcess, user: string): Promise<void> {
  await made.answer("Which folder", "bot\r");
  await made.answer("bot's user ID", `${user}\r`);
  await made.answer("Your own user ID", "\r");
  assertEquals(await made.ended(), 0, made.shown);
}

/** What a user sees of a bot's answer to `!ping` in an encrypted chat with it. */
export async function ping(alice: Client, bot: `@${string}:${string}`): Promise<string> {
  const answered = Promise.withResolvers<string>();
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender === bot) answered.resolve(content.body);
  });
  alice.on("JOIN", async ({ room_id, sender }) => {
    if (sender === bot) await alice.sendText(room_id, "!ping");
  });
  const started = alice.start();
  const content = { algorithm: "m.megolm.v1.aes-sha2" } as const;
  await alice.createRoom({
    ...{ invitees: [bot], isDirect: true, preset: "trusted_private_chat" },
    initialState: [{ type: "m.room.encryption", state_key: "", content }],
  });
  const answer = await within(answered.promise, "the bot answers");
  await alice.stop();
  await started;
  return answer;
}
