import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { clientStage } from "./support/stage.ts";

for (const store of [undefined, new MemoryStore()]) {
  const where = store === undefined ? "in memory" : "with a store";
  Deno.test(`A server that is faster than the handlers is asked for no more than they may have open, ${where}`, async () => {
    await using here = clientStage();
    const alice = here.client("alice");
    const roomId = await alice.createRoom({ preset: "public_chat" });
    const bot = here.client("bot", { store, maxPendingHandlers: 3 });
    await bot.joinRoom(roomId);
    await bot.syncOnce();
    const open: (() => void)[] = [];
    const texts: string[] = [];
    bot.on("m.room.message", ({ content }) => {
      texts.push(content.body);
      return new Promise<void>((resolve) => open.push(resolve));
    });
    bot.start();
    await here.settle();
    const syncs = () => here.homeserver.requests.filter("GET", "/sync").length;
    const sent = Array.from({ length: 30 }, (_, index) => `${index}`);
    for (const text of sent.slice(0, 10)) {
      await alice.sendText(roomId, text);
      await here.settle();
    }
    const asked = syncs();
    assertEquals(texts, sent.slice(0, 4)); // a response is handled whole: the fourth filled it up
    for (const text of sent.slice(10)) {
      await alice.sendText(roomId, text);
      await here.settle();
    }
    assertEquals([syncs(), texts.length], [asked, 4]);
    for (let handled = 0; handled < sent.length; handled++) {
      await here.until(() => open.length > 0);
      open.shift()?.();
    }
    assertEquals(texts, sent);
  });
}
