/**
 * A server puts an order in clear in front of a room's encryption event, which it shows once more, when a bot
 * comes back that was killed: what comes again then may be from the time when the room was not encrypted, and
 * was taken for that, however long the room has been encrypted.
 *
 * What must hold: a message in clear counts if it stands in front of an encryption event that has not been
 * handled. Once it has been, its room is encrypted for good.
 *
 * The class of mistake: something may come again, and whatever comes is taken for it.
 */

import { assertEquals } from "@std/assert";
import { MemoryStore, type Store } from "@greenroom/matrix";
import type { JsonObject } from "@greenroom/matrix/types";
import { isJsonObject } from "../../../../src/types/json.ts";
import { isLocal } from "../../../../src/store/device/mod.ts";
import { begin, ENCRYPTED, twoInARoom } from "../../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage, heard } from "../../../client/support/stage.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const BOT = "@bot:localhost";

/** The store of a process that is killed now. */
async function killed(store: Store): Promise<MemoryStore> {
  const copy = new MemoryStore();
  const all = (await Array.fromAsync(store.list([]))).filter(({ key }) => !isLocal(key.slice(2)));
  await copy.commit(all.map(({ key, value }) => ({ type: "set", key, value })));
  return copy;
}

/** A server that shows events in front of what comes of a room first. */
function showing({ homeserver }: ClientStage, roomId: string, events: readonly JsonObject[]): typeof fetch {
  let isShown = false;
  return async (input, init) => {
    const response = await homeserver.fetch(new Request(input, init));
    if (isShown || !new URL(String(input)).pathname.endsWith("/sync")) return response;
    const body = await response.json();
    const room = isJsonObject(body.rooms?.join) ? body.rooms.join[roomId] : undefined;
    if (isJsonObject(room) && isJsonObject(room.timeline) && Array.isArray(room.timeline.events)) {
      isShown = true;
      room.timeline.events.unshift(...events);
    }
    return Response.json(body);
  };
}

/** What a bot hears that was killed, when the server shows it an order in clear. */
async function heardAgain(since: "before it was encrypted" | "after"): Promise<string[]> {
  await using stage = clientStage();
  const { alice } = await twoInARoom(stage);
  const initialState = since === "after" ? ENCRYPTED : [];
  const roomId = await alice.createRoom({ invitees: [BOT], initialState });
  // So many that the first timeline which the bot gets begins behind the encryption event.
  if (since === "after") { for (let count = 0; count < 100; count++) await alice.sendText(roomId, "before"); }
  const store = new MemoryStore();
  const bot = stage.client("bot", { encryption: EVERYBODY, store });
  await begin(stage, bot);
  await bot.joinRoom(roomId);
  await stage.settle();
  const { promise, resolve } = Promise.withResolvers<void>();
  bot.on("m.room.message", () => promise);
  if (since !== "after") {
    await alice.sendText(roomId, "in clear");
    await alice.sendStateEvent(roomId, "m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" });
  }
  await alice.sendText(roomId, "encrypted");
  await stage.settle();
  const copy = await killed(store);
  const state = await alice.getState(roomId);
  const encryption = state.find(({ type }) => type === "m.room.encryption") as unknown as JsonObject;
  const forged = {
    type: "m.room.message",
    sender: "@alice:localhost",
    event_id: "$forged",
    origin_server_ts: 1,
    content: { msgtype: "m.text", body: "forged" },
  };
  const events = since === "after" ? [forged, encryption] : [];
  const next = stage.client("bot", {
    encryption: EVERYBODY,
    store: copy,
    fetch: showing(stage, roomId, events),
  });
  const texts = heard(next);
  next.setMxid(BOT);
  const running = next.start();
  await stage.settle();
  resolve();
  await next.close();
  await running;
  return texts;
}

Deno.test("T211: an order in clear in front of an encryption event that was handled counts for nothing", async () => {
  assertEquals(await heardAgain("after"), ["encrypted"]);
});

Deno.test("T211: what was said in clear before a room was encrypted is heard, also by the next process", async () => {
  assertEquals(await heardAgain("before it was encrypted"), ["in clear", "encrypted"]);
});
