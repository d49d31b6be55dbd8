import { assert, assertEquals, assertRejects } from "@std/assert";
import { defineEvent, MemoryStore, ValueError } from "@greenroom/matrix";
import type { JsonObject } from "@greenroom/matrix/types";
import { EVERYBODY } from "../../support/everybody.ts";
import { clientStage } from "../support/stage.ts";

const [PROMISE, MAP, NUMBER] = [
  /has a promise in it; await it/,
  /has a Map or a Set in it/,
  /has (NaN|-?Infinity) in it/,
];

Deno.test("A content with what JSON says nothing of is refused, as with a promise that nobody awaits", async () => {
  await using here = clientStage();
  const order = defineEvent({ type: "org.example.order", class: "message" });
  const encryption = { algorithm: "m.megolm.v1.aes-sha2" };
  for (const encrypted of [false, true]) {
    const bot = here.client(encrypted ? "ebot" : "bot", {
      ...(encrypted && { store: new MemoryStore(), encryption: EVERYBODY }),
    });
    const room = await bot.createRoom({
      initialState: encrypted ? [{ type: "m.room.encryption", state_key: "", content: encryption }] : [],
    });
    const sent = here.homeserver.room(room).events.length;
    const lists: unknown[] = [1];
    lists.push({ lists });
    for (
      const [content, refusal] of [
        [{ dish: Promise.resolve("soup") }, PROMISE],
        [{ dishes: [{ name: Promise.resolve("soup") }] }, PROMISE],
        [{ dishes: new Map([["soup", 1]]) }, MAP],
        [{ dishes: [new Set(["soup"])] }, MAP],
        [{ price: 0 / 0 }, NUMBER],
        [{ prices: { soup: [Infinity, -Infinity] } }, NUMBER],
        [{ lists, at: Promise.resolve() }, PROMISE],
      ] as const
    ) {
      for (
        const send of [
          () => bot.sendMessageEvent(room, "org.example.order", content),
          () => bot.sendMessageEvent(room, order, content as JsonObject),
          () => bot.sendStateEvent(room, "org.example.menu", content),
          () => bot.queue(room).sendMessageEvent("org.example.order", content).sent,
        ]
      ) assertRejectsWith(await assertRejects(send, ValueError), refusal);
    }
    const dish = Promise.resolve({ dish: "soup" });
    assertRejectsWith(
      await assertRejects(() => bot.sendMessageEvent(room, "org.example.order", dish), ValueError),
      PROMISE,
    );
    assertEquals(here.homeserver.room(room).events.length, sent);
    const said = {
      at: new Date(0),
      left: undefined,
      same: lists.slice(0, 1),
      again: lists.slice(0, 1),
      none: null,
    };
    await bot.sendMessageEvent(room, order, said);
    assertEquals(here.homeserver.room(room).events.length, sent + 1);
  }
});

function assertRejectsWith({ message }: ValueError, refusal: RegExp): void {
  assert(refusal.test(message), message);
}
