import { assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { type RoomID, SyncStream } from "@greenroom/matrix/types";
import { ENCRYPTED } from "../support/encrypted_room.ts";
import { teach } from "../../../examples/bot.ts";
import { Gates, hearing } from "../support/hearing.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** A bot that comes when it is invited, and obeys. */
function obedient(bot: Client): string[] {
  const obeyed: string[] = [];
  bot.on("INVITE", ({ room_id }) => bot.joinRoom(room_id));
  bot.on("m.room.message", async ({ room_id, content: { body } }) => {
    if (!body.startsWith("!")) return;
    obeyed.push(body);
    if (body === "!leave") await bot.leaveRoom(room_id);
  });
  return obeyed;
}

/** A room of Alice's, in which she has said something. */
async function roomOf(alice: Client, ...texts: string[]): Promise<RoomID> {
  const room = await alice.createRoom();
  for (const text of texts) await alice.sendText(room, text);
  return room;
}

/** A bot that has synced in a room of Alice's. */
async function botInRoom(here: ClientStage): Promise<{ alice: Client; bot: Client; room: RoomID }> {
  const [alice, bot] = [here.client("alice"), here.client("bot")];
  const room = await roomOf(alice);
  await alice.inviteUser(room, "@bot:localhost");
  await bot.joinRoom(room);
  await bot.syncOnce();
  return { alice, bot, room };
}

Deno.test("History from before the invitation is not delivered, and present members are not welcomed", async () => {
  await using here = clientStage();
  const [alice, bot] = [here.client("alice"), here.client("bot", { mxid: "@bot:localhost" })];
  const obeyed = obedient(bot);
  const seen: string[] = [];
  for (const type of ["JOIN", "KICK", "LEAVE", "INVITE"] as const) {
    bot.on(type, ({ state_key }) => seen.push(`${type} ${state_key}`));
  }
  bot.on("m.room.member", ({ state_key }) => seen.push(`member ${state_key}`));
  await bot.syncOnce();
  bot.start();
  await here.settle();
  const room = await roomOf(alice, "!ban");
  await alice.inviteUser(room, "@bot:localhost");
  await here.settle();
  await alice.sendText(room, "!help");
  await here.settle();
  assertEquals(obeyed, ["!help"]);
  assertEquals(seen, [
    "member @bot:localhost",
    "INVITE @bot:localhost",
    "member @bot:localhost",
    "JOIN @bot:localhost",
  ]);
  assertEquals([...(await bot.stateStore.getMembers(room))?.keys() ?? []].toSorted(), [
    "@alice:localhost",
    "@bot:localhost",
  ]);
});

Deno.test("History reaches handlers that ask for it, marked as history", async () => {
  await using here = clientStage();
  const [alice, bot] = [here.client("alice"), here.client("bot")];
  const seen: string[] = [];
  const told = (what: string, source: number) =>
    seen.push(`${what}${(source & SyncStream.HISTORY) === 0 ? "" : ", history"}`);
  bot.on("m.room.message", ({ content, source }) => told(content.body, source), { history: true });
  bot.on("JOIN", ({ state_key, source }) => told(state_key, source), { history: true });
  await bot.syncOnce();
  const room = await roomOf(alice, ...Array.from({ length: 30 }, (_, index) => `${index}`));
  await alice.inviteUser(room, "@bot:localhost");
  await bot.joinRoom(room);
  await alice.sendText(room, "hello");
  await bot.syncOnce();
  assertEquals(seen, [
    "@alice:localhost, history",
    ...Array.from({ length: 30 }, (_, index) => `${index}, history`),
    "@bot:localhost",
    "hello",
  ]);
});

for (const store of [undefined, new MemoryStore()]) {
  const kept = store === undefined ? "without a store" : "with a store";

  Deno.test(`A bot that obeys !leave stays when it is invited again, ${kept}`, async () => {
    await using here = clientStage();
    const alice = here.client("alice");
    let bot = here.client("bot", { store });
    const obeyed = [obedient(bot)];
    await bot.syncOnce();
    bot.start();
    const room = await roomOf(alice);
    for (let time = 1; time <= 3; time++) {
      await alice.inviteUser(room, "@bot:localhost");
      await here.settle();
      await alice.sendText(room, `!do ${time}`);
      await here.settle();
      assertEquals(here.homeserver.room(room).membership("@bot:localhost"), "join");
      if (store !== undefined) { // a new process
        await bot.close();
        bot = here.client("bot", { store });
        obeyed.push(obedient(bot));
        bot.start();
        await here.settle();
      }
      await alice.sendText(room, "!leave");
      await here.settle();
    }
    assertEquals(obeyed.flat(), ["!do 1", "!leave", "!do 2", "!leave", "!do 3", "!leave"]);
  });
}

Deno.test("A bot that is kicked and invited again gets the invitation once, and nothing from between", async () => {
  await using here = clientStage();
  const [alice, bot] = [here.client("alice"), here.client("bot")];
  const obeyed = obedient(bot);
  const seen: string[] = [];
  for (const type of ["JOIN", "KICK", "BAN", "UNBAN"] as const) {
    bot.on(type, ({ state_key }) => seen.push(`${type} ${state_key}`));
  }
  await bot.syncOnce();
  bot.start();
  const room = await roomOf(alice);
  await alice.inviteUser(room, "@bot:localhost");
  await here.settle();
  await alice.sendText(room, "!one");
  await alice.kickUser(room, "@bot:localhost");
  await alice.sendText(room, "!two");
  await here.settle();
  await alice.inviteUser(room, "@bot:localhost");
  await here.settle();
  await alice.sendText(room, "!three");
  await alice.banUser(room, "@bot:localhost");
  await here.settle();
  await alice.unbanUser(room, "@bot:localhost");
  await alice.inviteUser(room, "@bot:localhost");
  await here.settle();
  assertEquals(obeyed, ["!one", "!three"]);
  const own = ["JOIN", "KICK", "JOIN", "BAN", "UNBAN", "JOIN"].map((type) => `${type} @bot:localhost`);
  assertEquals(seen, own);
});

Deno.test("Thrown out and back while away, the bot handles what came before, and not what was said between", async () => {
  await using here = clientStage();
  const { alice, bot, room } = await botInRoom(here);
  const texts = heard(bot);
  const kicks: string[] = [];
  bot.on("KICK", ({ state_key }) => kicks.push(state_key));
  await alice.sendText(room, "handled");
  await bot.syncOnce();
  await alice.sendText(room, "while there");
  await alice.kickUser(room, "@bot:localhost");
  await alice.sendText(room, "while thrown out");
  await alice.inviteUser(room, "@bot:localhost");
  await bot.joinRoom(room);
  await alice.sendText(room, "back");
  await bot.syncOnce();
  assertEquals([texts, kicks], [["handled", "while there", "back"], ["@bot:localhost"]]);
});

Deno.test("Events before the own leave are handled, and none after it", async () => {
  await using here = clientStage();
  const { alice, bot, room } = await botInRoom(here);
  const texts = heard(bot);
  const said = Array.from({ length: 30 }, (_, index) => `${index}`);
  for (const text of said) await alice.sendText(room, text);
  await alice.kickUser(room, "@bot:localhost");
  await alice.sendText(room, "gone");
  await bot.syncOnce();
  assertEquals(texts, said);
});

Deno.test("A change of the own profile is no new join", async () => {
  await using here = clientStage();
  const { alice, bot, room } = await botInRoom(here);
  const texts = heard(bot);
  await alice.sendText(room, "before");
  await bot.setDisplayname("Bot");
  await alice.sendText(room, "after");
  await bot.syncOnce();
  assertEquals(texts, ["before", "after"]);
});

Deno.test("A crash between the commit and the handlers of a join does not make history of news, or news of history", async () => {
  await using here = clientStage();
  using gates = new Gates();
  const { texts, setUp } = hearing(gates);
  const bot = new RestartingBot(here, {
    setUp: (client) => {
      setUp(client);
      client.on("INVITE", ({ room_id }) => client.joinRoom(room_id));
    },
  });
  await bot.settle();
  const alice = here.client("alice");
  const room = await roomOf(alice, "!old");
  await alice.inviteUser(room, "@bot:localhost");
  await bot.settle();
  for (const text of ["slow 1", "2"]) {
    await alice.sendText(room, text);
    await bot.until(() => texts[0]?.includes(text) === true);
  }
  await alice.kickUser(room, "@bot:localhost");
  await bot.settle();
  await alice.sendText(room, "between");
  await alice.inviteUser(room, "@bot:localhost");
  await bot.settle();
  await alice.sendText(room, "3");
  await bot.until(() => texts[0]?.includes("3") === true);
  await bot.restart();
  await bot.until(() => texts[1]?.includes("3") === true);
  assertEquals(texts, [["slow 1", "2", "3"], ["slow 1", "3"]]); // that "2" had settled was noted
});

Deno.test("A failure to read history is reported only to handlers of history", async () => {
  await using here = clientStage();
  const alice = here.client("alice", { encryption: EVERYBODY });
  const bot = here.client("bot", { encryption: EVERYBODY });
  for (const client of [alice, bot]) client.start();
  await here.settle();
  const room = await alice.createRoom({
    initialState: ENCRYPTED,
  });
  const texts = heard(bot);
  const unread: string[] = [];
  bot.on("UNDECRYPTABLE", () => unread.push("told"));
  bot.on("UNDECRYPTABLE", () => unread.push("told of history"), { history: true });
  await alice.sendText(room, "before");
  await alice.inviteUser(room, "@bot:localhost");
  await bot.joinRoom(room);
  await here.settle();
  await alice.sendText(room, "after");
  await here.settle();
  assertEquals([texts, unread], [["after"], ["told of history"]]);
});

Deno.test("The bot of the examples welcomes new members, and no present ones", async () => {
  await using here = clientStage();
  const [alice, carol] = [here.client("alice"), here.client("carol")];
  const bot = here.client("bot", { mxid: "@bot:localhost" });
  teach(bot);
  bot.start();
  await here.settle();
  const room = await alice.createRoom({ preset: "public_chat" });
  await carol.joinRoom(room);
  await alice.inviteUser(room, "@bot:localhost");
  await here.settle();
  here.client("dave");
  await here.client("dave").joinRoom(room);
  await here.settle();
  assertEquals(said(here, room), ["Welcome, dave!"]);
});

function said({ homeserver }: ClientStage, room: RoomID): unknown[] {
  return homeserver.room(room).messages.map(({ content }) => content.body);
}
