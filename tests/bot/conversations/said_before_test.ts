import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { type Bot, defineSession } from "@greenroom/matrix/bot";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import type { FaultPlan } from "../../client/support/crash.ts";
import { RestartingBot } from "../../client/support/restarting_bot.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { living } from "./living.ts";

/** A process ends with a commit of sessions. The very first is that it was invited. */
const listed = (at: number): FaultPlan => ({
  operation: "commit",
  takesEffect: true,
  at,
  subject: "session/",
});

/** A bot in a room with alice and bob. */
async function talking(here: ClientStage, plans: readonly FaultPlan[], teach: (bot: Bot) => void) {
  const [alice, bob] = [here.client("alice"), here.client("bob")];
  const heard: string[] = [];
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender === "@bot:localhost") heard.push(content.body);
  });
  bob.on("INVITE", async ({ room_id }) => void await bob.joinRoom(room_id));
  for (const each of [alice, bob]) each.start();
  await here.settle();
  const bot = new RestartingBot(here, {
    plans,
    setUp(client) {
      const kit = living(client);
      teach(kit);
      kit.start({ signals: false });
    },
  });
  const { requests } = here.homeserver;
  await bot.until(() => requests.filter("GET", "/sync").some(({ user }) => user === "@bot:localhost"));
  const room = await alice.createRoom({ invitees: ["@bot:localhost", "@bob:localhost"] });
  for (const user of ["@bot:localhost", "@bob:localhost"] as const) {
    await bot.until(() => here.homeserver.room(room).membership(user) === "join");
  }
  await bot.settle();
  const says = async (client: typeof bob, text: string, until: string): Promise<void> => {
    await client.sendText(room, text);
    await bot.until(() => heard.includes(until));
    await bot.settle();
  };
  return { bot, heard, alice, bob, room, says };
}

/** One that asks all; what it is told else is in hand until its process ends. */
async function asking(here: ClientStage, plans: readonly FaultPlan[]) {
  const over = Promise.withResolvers<void>();
  let ends = plans.length;
  const stage = await talking(here, plans, (kit) => {
    const isLast = ends-- === 0;
    kit.command("menu", async (c) => void await c.send(`took ${await c.ask("What?", { from: "anyone" })}`));
    kit.on("message:text", async (c) => {
      await c.send(`heard ${c}`);
      if (!isLast) await over.promise;
    });
  });
  const end = (): void => over.resolve(); // what processes had begun that are gone
  return { ...stage, [Symbol.dispose]: end };
}

for (const plans of [[listed(2)], [listed(2), listed(1)]]) {
  Deno.test(`What was in hand when a question was put is no answer to it, after ${plans.length} crashes`, async () => {
    await using here = clientStage();
    using stage = await asking(here, plans);
    const { bot, heard, alice, bob, says } = stage;
    await says(bob, "hello", "heard hello");
    await says(alice, "!menu", "What?");
    const crashes = bot.crashes.map((each) => each.split(": ").at(-1)?.split(" ")[0]);
    assertEquals(crashes, plans.map(() => "session/bot.waits"));
    assertEquals(heard, ["heard hello", "What?"]);
    await says(bob, "tea", "took tea");
    await bot.client.close();
  });
}

Deno.test("What was in hand when a question was put is no answer to it either when that waits already", async () => {
  await using here = clientStage();
  using stage = await asking(here, [listed(3)]);
  const { bot, heard, alice, bob, says } = stage;
  await says(bob, "hello", "heard hello");
  await says(alice, "!menu", "What?");
  assertEquals(bot.crashes.map((each) => each.includes("bot.conversations")), [true]);
  assertEquals(heard, ["heard hello", "What?"]);
  await says(bob, "tea", "took tea");
  await bot.client.close();
});

Deno.test("What is in hand when a question is put again, after a crash, may be its answer", async () => {
  await using here = clientStage();
  using stage = await asking(here, [{ ...listed(3), takesEffect: false }]);
  const { bot, heard, alice, bob, says } = stage;
  bob.on("m.room.message", async ({ sender, content, room_id }) => {
    if (sender === "@bot:localhost" && content.body === "What?") await bob.sendText(room_id, "tea");
  });
  await says(alice, "!menu", "took tea");
  assertEquals(bot.crashes.map((each) => each.includes("bot.conversations")), [true]);
  assertEquals(heard, ["What?", "took tea"]);
  await bot.client.close();
});

/**
 * Two answer at once, and the later answer is taken when the process ends; then the earlier one comes first.
 */
async function interrupted(here: ClientStage, before: (alice: Client, room: RoomID) => unknown) {
  const notes = defineSession({ name: "notes", per: "user", initial: () => ({ count: 0 }) });
  const gate = Promise.withResolvers<void>();
  using _gate = { [Symbol.dispose]: () => gate.resolve() };
  const stage = await talking(here, [], (kit) => {
    kit.command("menu", async (c) => void await c.send(`took ${await c.ask("What?", { from: "anyone" })}`));
    kit.on("message:text", async (c) => {
      (await c.getSession(notes)).count++;
      if (c.text === "slow") await gate.promise;
      else await c.send(`heard ${c}`);
    });
  });
  const { bot, heard, alice, bob, room, says } = stage;
  await bob.sendText(room, "slow");
  await bot.settle();
  await says(alice, "!menu", "What?");
  await bob.sendText(room, "tea"); // which waits until the first is done
  await bot.settle();
  using late = here.homeserver.faults.add({
    kind: "hold-after",
    match: { path: "/send/m.room.message", user: "@bot:localhost" },
  });
  await says(alice, "coffee", "took coffee");
  gate.resolve();
  await bot.settle();
  await before(alice, room);
  await bot.restart();
  late.remove();
  await bot.until(() => heard.length === 3);
  await bot.settle();
  await bot.client.close();
  return heard;
}

Deno.test("An answer that was taken is taken after a crash too, and no earlier one that had to wait", async () => {
  await using here = clientStage();
  assertEquals(await interrupted(here, () => {}), ["What?", "took coffee", "heard tea"]);
});

Deno.test("Where an answer that was taken does not come again after a crash, the next one is taken soon", async () => {
  await using here = clientStage();
  const heard = await interrupted(here, async (alice, room) => {
    const { event_id } = here.homeserver.room(room).messages.findLast(({ content }) =>
      content.body === "coffee"
    ) ??
      {};
    await alice.redact(room, event_id as EventID);
  });
  assertEquals(heard, ["What?", "took coffee", "took tea"]);
});
