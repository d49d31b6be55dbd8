import { assert, assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { type Client, defineSession, ForbiddenError, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { type ClientStage, clientStage } from "../support/stage.ts";

const COUNT = defineSession({ name: "count", per: "room", initial: () => ({ count: 0 }) });
/** Where the bot may not speak. */
const ELSEWHERE: RoomID = "!elsewhere:localhost";

/** A bot that hears one message, with a handler that awaits nothing. */
async function hears(here: ClientStage, setUp: (bot: Client, errors: unknown[]) => void, text = "hello") {
  const bot = here.client("bot", { store: new MemoryStore(), retry: false });
  const alice = here.client("alice");
  const id = await alice.createRoom({ preset: "public_chat" });
  await bot.joinRoom(id);
  const errors: unknown[] = [];
  bot.on("HANDLER_ERROR", ({ error }) => void errors.push(error));
  setUp(bot, errors);
  bot.start();
  await bot.ready;
  await alice.sendText(id, text);
  return {
    bot,
    id,
    errors,
    said: () => here.homeserver.room(id).messages.map(({ content }) => content.body),
  };
}

const FORGETFUL: Record<string, (bot: Client) => unknown> = {
  "a send": (bot) => void bot.sendText(ELSEWHERE, "hi"),
  "what follows a send": (bot) => void bot.whoami().then(() => bot.sendText(ELSEWHERE, "hi")),
  "a function of its own": (bot) => {
    const answer = async (): Promise<void> => {
      await bot.whoami();
      await bot.sendText(ELSEWHERE, "hi");
    };
    answer();
  },
  "one of several": (bot) => void Promise.all([bot.whoami(), bot.sendText(ELSEWHERE, "hi")]),
};

for (const [what, forget] of Object.entries(FORGETFUL)) {
  Deno.test(`A handler that does not await ${what} has its failure reported, and the process goes on`, async () => {
    for (const session of [undefined, COUNT]) {
      await using here = clientStage();
      const { errors } = await hears(here, (bot) => {
        bot.on("m.room.message", () => void forget(bot), { session } as object);
      });
      await here.until(() => errors.length > 0);
      assertInstanceOf(errors[0], ForbiddenError);
      assertStringIncludes(here.log.lines.find(([level]) => level === "error")?.[1] ?? "", "did not await");
    }
  });
}

Deno.test("An error that is thrown in a function that a handler does not await is reported as its failure", async () => {
  await using here = clientStage();
  const { errors } = await hears(here, (bot) => {
    bot.on("m.room.message", () => {
      const think = async (): Promise<void> => {
        await bot.whoami();
        throw new RangeError("too deep");
      };
      think();
    });
  });
  await here.until(() => errors.length > 0);
  assertInstanceOf(errors[0], RangeError);
});

Deno.test("A handler has settled when all that it has begun has ended: an end waits for it", async () => {
  for (const session of [undefined, COUNT]) {
    await using here = clientStage();
    let begun = 0;
    const { bot, said } = await hears(here, (bot) => {
      bot.on("m.room.message", ({ room_id, sender }) => {
        if (sender === bot.mxid) return;
        bot.whoami().then(async () => {
          begun++;
          await bot.sendText(room_id, "first");
        }).then(() => bot.sendText(room_id, "second"));
      }, { session } as object);
    });
    const held = here.homeserver.faults.add({
      kind: "hold",
      match: { path: "/send/", user: "@bot:localhost" },
    });
    await here.until(() => begun === 1);
    let hasClosed = false;
    const closed = bot.close().then(() => hasClosed = true);
    await here.settle();
    assert(!hasClosed);
    held.remove();
    await here.until(() => hasClosed);
    await closed;
    assertEquals(said(), ["hello", "first", "second"]);
  }
});

Deno.test("A task waits for what it has begun, and what it does not await and fails is in the log", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { store: new MemoryStore(), retry: false });
  const id = await bot.createRoom({});
  await bot.runTask("once", () => {
    bot.sendText(id, "done");
    bot.sendText(ELSEWHERE, "hi");
  });
  assertEquals(here.homeserver.room(id).messages.map(({ content }) => content.body), ["done"]);
  const failure = () => here.log.lines.find(([level]) => level === "error");
  await here.until(() => failure() !== undefined);
  assertEquals(failure()?.[2]?.task, "once");
});
