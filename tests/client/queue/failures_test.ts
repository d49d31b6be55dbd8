import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore, ValueError } from "@greenroom/matrix";
import { ClientEndedError } from "@greenroom/matrix/errors";
import { clientStage } from "../support/stage.ts";

const SEND = { method: "PUT", path: "/send/" };

Deno.test("A logout ends what is queued, and another user who logs in does not send it", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  here.homeserver.createUser("other", { password: "curtain" });
  const room = await bot.createRoom();
  const away = here.homeserver.faults.add({ kind: "drop", match: SEND });
  const queue = bot.queue(room);
  const send = queue.sendText("of the bot");
  await away.hit();
  away.remove();
  await bot.logout();
  await assertRejects(() => send.sent, ClientEndedError, "logged out");
  await assertRejects(() => queue.settled(), ClientEndedError, "logged out");
  await bot.login({ identifier: "@other:localhost", password: "curtain" });
  assertEquals(await bot.queue(room).list().catch(() => []), []);
  await here.settle();
  assertEquals(here.homeserver.requests.filter("PUT", "/send/").length, 1);
});

Deno.test("A cancellation that the end of the client meets, or comes after, rejects with a ClientEndedError", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { retry: false });
  const room = await bot.createRoom();
  const held = here.homeserver.faults.add({ kind: "hold", match: SEND });
  const sends = ["1", "2"].map((text) => bot.queue(room).sendText(text));
  await here.until(() => held.hits > 0);
  const cancelled = sends[0]?.cancel() ?? Promise.resolve();
  cancelled.catch(() => {});
  await here.settle();
  await bot.close();
  await assertRejects(() => cancelled, ClientEndedError);
  await assertRejects(() => sends[1]?.cancel() ?? Promise.resolve(), ClientEndedError);
});

Deno.test("An onProgress that rejects is logged", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const room = await bot.createRoom();
  const queue = bot.queue(room, { onProgress: () => Promise.reject(new Error("no")) as never });
  await queue.sendText("Hello").sent;
  await here.settle();
  assert(here.log.lines.some(([, message]) => message.includes("onProgress of a queue has failed")));
});

Deno.test("What can't be queued is a ValueError", async () => {
  await using here = clientStage();
  const bot = here.client("bot");
  const queue = bot.queue(await bot.createRoom());
  for (const options of [{ txnId: 5 }, { txnId: "" }, null]) {
    await assertRejects(() => queue.sendText("a", options as never).stored, ValueError);
  }
  await assertRejects(() => queue.sendText(3 as never).stored, ValueError, "must be a string");
  await assertRejects(() => queue.sendMessageEvent(undefined as never, {} as never).stored, ValueError);
});

/** Reads the second send of a queue when it is allowed to. */
class SlowReads extends MemoryStore {
  readonly gate = Promise.withResolvers<void>();

  override async getMany(keys: Parameters<MemoryStore["getMany"]>[0]): ReturnType<MemoryStore["getMany"]> {
    if (keys.some((key) => /^0+1-/.test(String(key.at(-1))))) await this.gate.promise;
    return await super.getMany(keys);
  }
}

Deno.test("What is added at once is stored in order, so that a crash leaves no gap in it", async () => {
  await using here = clientStage();
  const store = new SlowReads();
  const bot = here.client("bot", { store });
  const room = await bot.createRoom();
  here.homeserver.faults.add({ kind: "drop", match: SEND });
  const stored: string[] = [];
  const sends = ["1", "2", "3"].map((text) =>
    bot.queue(room).sendText(text).stored.then(() => stored.push(text))
  );
  await here.settle();
  assertEquals(stored, ["1"]);
  store.gate.resolve();
  await Promise.all(sends);
  assertEquals(stored, ["1", "2", "3"]);
});
