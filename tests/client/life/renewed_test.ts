import { assertEquals, assertRejects } from "@std/assert";
import { rejectionOf } from "../../actors/kernel/support.ts";
import { failingStore } from "../../support/failing_store.ts";
import { clientStage } from "../support/stage.ts";

Deno.test("What is sent while a store that failed ends a pass waits for the actors of after it", async () => {
  await using here = clientStage();
  const { store, fail } = failingStore();
  let isHeld = false;
  let isAsked = false;
  const bot = here.client("bot", {
    store,
    encryption: true,
    fetch: async (input, init) => {
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      if (!isHeld || !pathname.endsWith("/sync")) return await here.homeserver.fetch(input, init);
      isAsked = true;
      return await new Promise((_, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))
      );
    },
  });
  void bot.fetch; // it hands the device back after each pass
  const room = await bot.createRoom({
    initialState: [{
      type: "m.room.encryption",
      state_key: "",
      content: { algorithm: "m.megolm.v1.aes-sha2" },
    }],
  });
  await bot.syncOnce();
  isHeld = true;
  const pass = rejectionOf(bot.syncOnce());
  await here.until(() => isAsked);
  fail();
  await assertRejects(() => bot.sendText(room, "lost"));
  assertEquals(typeof await bot.sendText(room, "here"), "string");
  isHeld = false;
  await pass;
});
