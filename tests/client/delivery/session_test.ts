import { assert, assertEquals } from "@std/assert";
import { type Client, defineSession, ValueError } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import type { FaultPlan, OperationLog } from "../support/crash.ts";
import { atEachCrashPoint } from "../support/crash_points.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: 3 };

/** What the bot remembers of a room; two handlers share it. */
const counter = defineSession({
  name: "counter",
  per: "room",
  initial: () => ({ messages: 0, seen: new Array<string>() }),
});

/** Tells which message of its room each is, and notes who wrote. */
function counting(bot: Client): void {
  bot.on("m.room.message", async ({ sender, room_id }, ctx) => {
    if (sender !== "@alice:localhost") return;
    const { messages } = ctx.session;
    await bot.sendNotice(room_id, `message ${messages + 1} of the room`);
    ctx.session.messages = messages + 1;
  }, { session: counter });
  bot.on("m.room.message", async ({ sender, event_id }, { session }) => {
    await Promise.resolve();
    if (sender === "@alice:localhost") session.seen.push(event_id);
  }, { session: counter, name: "notes" });
}

/** Does the same without a session of its own: it changes the room's when it has settled. */
function updating(bot: Client): void {
  bot.on("m.room.message", async ({ sender, room_id, event_id }, ctx) => {
    if (sender !== "@alice:localhost") return;
    const { messages } = await bot.sessions.read(counter, room_id) ?? counter.initial();
    await bot.sendNotice(room_id, `message ${messages + 1} of the room`);
    ctx.updateSession(counter, room_id, (session) => void (session.messages = messages + 1));
    ctx.updateSession(counter, room_id, (session) => void session.seen.push(event_id));
  }, { sequential: true });
}

/** Settles by itself, and fails afterwards, which nothing repeats. */
function settling(bot: Client): void {
  bot.on("m.room.message", async ({ sender, room_id, event_id }, ctx) => {
    if (sender !== "@alice:localhost") return;
    const { messages, seen } = await bot.sessions.read(counter, room_id) ?? counter.initial();
    await bot.sendNotice(room_id, `message ${messages + 1} of the room`);
    ctx.updateSession(counter, room_id, () => ({ messages: messages + 1, seen: [...seen, event_id] }));
    await ctx.settle();
    throw new ValueError("after it has settled");
  }, { sequential: true });
}

const BOTS = { counts: counting, updates: updating, settles: settling };

/** What Alice says, by the rooms of what she says at once. */
const SCRIPT = { plain: [[0], [0, 0, 1], [1, 0]], encrypted: [[0], [0, 0], [0]] };

/** A scripted exchange with a bot that ends where it is planned, and goes on. */
async function exchange(
  where: keyof typeof SCRIPT,
  plans: readonly FaultPlan[],
  setUp = counting,
): Promise<OperationLog> {
  await using here = clientStage();
  const encryption = where === "encrypted" && EVERYBODY;
  const alice = here.client("alice", { encryption });
  const told: string[][] = [[], []];
  const rooms: RoomID[] = [];
  alice.on("m.room.message", ({ sender, room_id, content }) => {
    if (sender === "@bot:localhost") told[rooms.indexOf(room_id)]?.push(content.body);
  });
  alice.start();
  await here.settle();
  const bot = new RestartingBot(here, { plans, setUp, client: { encryption } });
  const initialState = encryption ? [{ type: "m.room.encryption", state_key: "", content: MEGOLM }] : [];
  for (const _ of encryption ? [1] : [1, 2]) {
    const room = await alice.createRoom({ invitees: ["@bot:localhost"], initialState });
    await bot.complete((client) => client.joinRoom(room));
    rooms.push(room);
  }
  const { requests } = here.homeserver;
  // It has published keys.
  await bot.until(() => requests.filter("GET", "/sync").some(({ user }) => user === "@bot:localhost"));
  await bot.settle();
  const expected: string[][] = [[], []];
  for (const messages of SCRIPT[where]) {
    // Mostly in one response.
    await Promise.all(messages.map((room) => alice.sendText(rooms[room] as RoomID, "hello")));
    for (const room of messages) {
      expected[room]?.push(`message ${(expected[room]?.length ?? 0) + 1} of the room`);
    }
    await bot.until(() => told.every((texts, room) => texts.length >= (expected[room]?.length ?? 0)));
  }
  await bot.settle();
  const name = bot.crashes.join("; ");
  assertEquals(told, expected, name);
  for (const [index, room] of rooms.entries()) {
    const events = here.homeserver.room(room).messages.filter(({ sender }) => sender === "@bot:localhost");
    assertEquals(events.length, expected[index]?.length, name); // also of undecryptable ones
  }
  await bot.client.close();
  const kept = (await bot.records("session")).map(({ value }) =>
    value as { messages: number; seen: string[] }
  );
  const counts = kept.map(({ messages, seen }) => [messages, seen.length, new Set(seen).size]);
  const right = expected.map(({ length }) => [length, length, length]).filter(([length]) => length !== 0);
  assertEquals(counts.toSorted(), right.toSorted(), name);
  return bot.log;
}

for (const where of ["plain", "encrypted"] as const) {
  for (const [does, setUp] of Object.entries(BOTS)) {
    Deno.test(`A bot that ${does} in ${where} rooms and ends at any moment tells each count once`, async () => {
      const { names } = await atEachCrashPoint((plan) => exchange(where, [plan], setUp));
      assert(names.commit.some((name) => name.includes("session")), names.commit.join("\n"));
      assert(names.request.some((name) => name.includes("send/m.room")), names.request.join("\n"));
    });
  }
}

Deno.test("A bot that counts and crashes at any commit, and twice soon after that, sends each count once", async () => {
  const soon = { operation: "commit", at: 3, takesEffect: true } as const;
  await atEachCrashPoint((plan) => exchange("plain", [plan, soon, soon]), { operations: ["commit"] });
});

Deno.test("A session that can't be stored is its handler's failure, and is unchanged for the next event", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const failures: unknown[] = [];
  const counts: number[] = [];
  bot.on(
    "HANDLER_ERROR",
    ({ error, event }) => void failures.push([error instanceof ValueError, "event_id" in event]),
  );
  bot.on("m.room.message", ({ content }, { session }) => {
    session.messages++;
    if (content.body === "bad") Object.assign(session, { call: () => {} });
    else counts.push(session.messages);
  }, { session: counter });
  const room = await bot.createRoom();
  bot.start();
  for (const text of ["1", "bad", "2"]) await bot.sendText(room, text);
  await here.until(() => counts.length === 2);
  assertEquals([counts, failures], [[1, 2], [[true, true]]]);
});

Deno.test("Sessions differ by thread and by member, and handlers of other types share them", async () => {
  await using here = clientStage();
  const [alice, bot] = [here.client("alice"), here.client("bot")];
  const initial = () => ({ count: 0 });
  const byThread = defineSession({ name: "thread", per: "thread", initial });
  const byMember = defineSession({ name: "member", per: "member", initial });
  const counts: string[] = [];
  bot.on("m.room.message", ({ content }, { session }) => {
    counts.push(`${content.body} ${++session.count}`);
  }, { session: byThread });
  bot.on("m.room.message", (_, { session }) => void session.count++, { session: byMember });
  bot.on("m.reaction", ({ sender }, { session }) => {
    counts.push(`${sender} ${++session.count}`);
  }, { session: byMember });
  const room = await bot.createRoom({ preset: "public_chat" });
  await alice.joinRoom(room);
  bot.start();
  const root = await alice.sendText(room, "outside");
  const other = await alice.sendText(room, "aside");
  for (
    const [client, event_id] of [[alice, root], [bot, root], [alice, other]] as const
  ) {
    const body = event_id === root ? "inside" : "elsewhere";
    const relation = { rel_type: "m.thread", event_id };
    await client.sendMessageEvent(
      room,
      "m.room.message",
      { msgtype: "m.text", body, "m.relates_to": relation } as never,
    );
  }
  const annotation = { rel_type: "m.annotation", event_id: root, key: "+" };
  await alice.sendMessageEvent(room, "m.reaction", { "m.relates_to": annotation } as never);
  await here.until(() => counts.length === 6);
  assertEquals(counts.toSorted(), [ // those of several sessions may be handled at once
    "@alice:localhost 5",
    "aside 2",
    "elsewhere 1",
    "inside 1",
    "inside 2",
    "outside 1",
  ]);
});
