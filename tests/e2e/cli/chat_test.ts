import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import type { RoomID } from "@greenroom/matrix/types";
import { Place } from "../../cli/support/greenroom.ts";
import { atTerminal, terminalTest } from "./support/desk.ts";
import type { TerminalProcess } from "./support/terminal.ts";

const CTRL_C = "\x03";

function chat(place: Place, ...args: readonly string[]): TerminalProcess {
  return atTerminal(["chat", ...args], { cwd: place.folder });
}

/** An encrypted bot of somebody, whom the person at the terminal talks with. */
function echo(place: Place): Bot {
  const { accessToken } = place.homeserver.createUser("echo", { password: "echo" });
  const bot = new Bot({
    ...{ homeserver: place.url, accessToken, store: new MemoryStore(), log: false },
    encryption: { sendTo: "cross-signed", accept: "cross-signed", password: "echo", onRecoveryKey() {} },
  });
  bot.command("echo <text...>", (c) => c.reply(`${c.args.text}\nand \x1b[2Jmore`));
  return bot;
}

terminalTest(
  "chat makes an encrypted chat with a user, sends what is typed, and prints the answers",
  async (place) => {
    await using bot = echo(place);
    const running = bot.start();
    await using first = chat(place, "@echo:localhost");
    await first.expect("Type a message");
    await first.type("!echo one\r");
    await first.expect("@echo:localhost  one\r\n  and  [2Jmore\r\n");
    await first.type(CTRL_C);
    assertEquals(await first.ended(), 130, first.shown);
    await using second = chat(place, "@echo:localhost");
    await second.expect("Type a message");
    await second.type("!echo two\r");
    await second.expect("@echo:localhost  two");
    await second.type("\x04");
    assertEquals(await second.ended(), 0, second.shown);
    const [roomId, ...more] = await bot.client.getJoinedRooms();
    assert(roomId !== undefined && more.length === 0);
    const messages = place.homeserver.room(roomId).messages.map(({ type }) => type);
    assertEquals(messages, Array(4).fill("m.room.encrypted"));
    await bot.stop();
    await running;
  },
);

terminalTest(
  "chat waits for a user who has not joined, and Ctrl-C leaves the store to the next command",
  async (place) => {
    place.homeserver.createUser("late");
    await using terminal = chat(place, "@late:localhost");
    await terminal.expect("Waiting until @late:localhost joins");
    await terminal.type(CTRL_C);
    assertEquals(await terminal.ended(), 130, terminal.shown);
    const listed = await place.run(["rooms", "--json"]);
    const { roomId, isEncrypted } = JSON.parse(listed.stdout);
    assert(isEncrypted, listed.stdout);
    const sent = await place.run(["send", roomId, "Hello"]);
    assertEquals(sent.code, 0, sent.stderr);
  },
);

terminalTest("listen prints what it hears until Ctrl-C, which ends with 130", async (place) => {
  const { accessToken } = place.homeserver.createUser("alice");
  await using alice = new Client({ baseUrl: place.url, accessToken, log: false });
  const room = await alice.createRoom({ invitees: [place.bot.userId] });
  assertEquals((await place.run(["join", room])).code, 0);
  await using terminal = atTerminal(["listen"], { cwd: place.folder });
  await terminal.expect("Listening");
  const heard = terminal.expect("Can you hear me?");
  let isHeard = false;
  void heard.then(() => isHeard = true);
  while (!isHeard) await alice.sendText(room, "Can you hear me?"); // until it has begun to sync
  await terminal.type(CTRL_C);
  assertEquals(await terminal.ended(), 130, terminal.shown);
});

Deno.test("chat reads a pipe, and ends with it", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const made = await place.run(["rooms", "create", "Stage"]);
  const roomId = made.stdout.trim() as RoomID;
  const talked = await place.run(["chat", roomId], { input: "one\n\ntwo\n" });
  assertEquals([talked.code, talked.stdout], [0, ""], talked.stderr);
  assertEquals(place.homeserver.room(roomId).messages.map(({ content }) => content.body), ["one", "two"]);
  const nobody = await place.run(["chat", "Stage"]);
  assertEquals(nobody.code, 2);
  assertStringIncludes(nobody.stderr, "@user:example.org");
  const elsewhere = await place.run(["chat", "!elsewhere:localhost"]);
  assertEquals(elsewhere.code, 1, elsewhere.stderr);
  assertStringIncludes(elsewhere.stderr, "is not in it; join it: greenroom join !elsewhere:localhost");
});
