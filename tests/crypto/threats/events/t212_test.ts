/**
 * A record was removed from a store in which a room's state says that it is encrypted;
 * the room is replaced by another, and the homeserver hides that this one is encrypted.
 *
 * What must hold: the successor of an encrypted room is encrypted, whichever record says that the room
 * was: its state, its settings for encryption, or the session for what is sent; whether this client
 * replaces the room, or another user.
 *
 * The class of mistake: of several places that know something, only one is asked.
 */

import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { isJsonObject } from "../../../../src/types/json.ts";
import { begin, ENCRYPTED, twoInARoom } from "../../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../../../client/support/stage.ts";
import { EVERYBODY } from "../../../support/everybody.ts";
import { hiding } from "../hiding.ts";

const BOT = "@bot:localhost";
/** Which records of a room say that it is encrypted, by a part of their keys. */
const SAYING = ["room", "room_settings", "outbound_session"] as const;

/** A server that hides that rooms are encrypted, and shows whose place they take. */
function hidingEncryption({ homeserver }: ClientStage): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const isAsked = request.method === "GET" &&
      new URL(request.url).pathname.includes("/state/m.room.encryption");
    if (isAsked) return Response.json({ errcode: "M_NOT_FOUND", error: "Event not found" }, { status: 404 });
    const response = await homeserver.fetch(request);
    if (request.method !== "GET") return response;
    return new Response(JSON.stringify(await response.json(), withoutEncryption), response);
  };
}

function withoutEncryption(_: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.filter((item) => !isJsonObject(item) || item.type !== "m.room.encryption");
}

/** What a bot sends into the successor of a room of which one kind of record is left. */
async function sentInto(kept: string, replaced: "by the bot" | "by another, as is shown"): Promise<string[]> {
  await using stage = clientStage();
  const { alice } = await twoInARoom(stage);
  const store = new MemoryStore();
  const bot = stage.client("bot", { encryption: EVERYBODY, store });
  await begin(stage, bot);
  const powers = { users: { [BOT]: 150 } };
  const roomId = await alice.createRoom({
    invitees: [BOT],
    initialState: [...ENCRYPTED, { type: "m.room.power_levels", state_key: "", content: powers }],
  });
  await bot.joinRoom(roomId);
  await stage.settle();
  await bot.sendText(roomId, "Encrypted");
  await bot.close();
  for (const kind of SAYING.filter((each) => each !== kept)) {
    const all = (await Array.fromAsync(store.list([]))).map(({ key }) => key);
    const found = all.filter((key) => key.includes(kind) && key.includes(roomId));
    assert(found.length > 0, `there is a record of the kind ${kind}`);
    await store.commit(found.map((key) => ({ type: "delete", key })));
  }
  const isOwn = replaced === "by the bot";
  const fetch = isOwn ? hiding(stage) : hidingEncryption(stage);
  const next = stage.client("bot", { encryption: EVERYBODY, store, fetch });
  await begin(stage, next);
  const successor = await (isOwn ? next : alice).upgradeRoom(roomId, "10");
  if (!isOwn) await alice.inviteUser(successor, BOT);
  if (!isOwn) await next.joinRoom(successor);
  await stage.settle();
  const before = stage.homeserver.room(successor).messages.length;
  await next.sendText(successor, "A secret");
  return stage.homeserver.room(successor).messages.slice(before).map(({ type }) => type);
}

for (const kept of SAYING) {
  for (const replaced of ["by the bot", "by another, as is shown"] as const) {
    Deno.test(`T212: with "${kept}" alone left a room that is replaced ${replaced} stays encrypted`, async () => {
      assertEquals(await sentInto(kept, replaced), ["m.room.encrypted"]);
    });
  }
}
