/**
 * An unknown user, a member or the server chooses identifiers that the specification does not
 * allow: too long, with zeros and control characters, or of no form at all. Events with them are
 * left out and counted; the others arrive, and the bot lives, also when it is started again and
 * receives the same.
 *
 * Class of mistake: an identifier from outside is used as a name before it is checked.
 */

import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { ComparedDevice } from "@greenroom/matrix/types";
import { KvStore } from "@greenroom/matrix/store/kv";
import { type SyncBody, victim } from "../victim.ts";

const MEGOLM = "m.megolm.v1.aes-sha2";
const BAD = "\u0001".repeat(255);
/** Takes three bytes, and the store's own escape three more. */
const PRIVATE = "\ue000".repeat(85);
/** Of 255 characters, and 765 bytes. */
const TOO_LONG = PRIVATE.repeat(3);

const toDevice = (type: string, content: unknown, sender = "@mallory:evil.example") => (body: SyncBody) => {
  ((body.to_device ??= {}).events ??= []).unshift({ type, sender, content });
};

const POISONS: Readonly<Record<string, (body: SyncBody, roomId: string) => void>> = {
  "a notice of a withheld key for a room and a session of 255 control characters": toDevice(
    "m.room_key.withheld",
    { algorithm: MEGOLM, room_id: `!${BAD.slice(1)}`, session_id: BAD, code: "m.unverified" },
  ),
  "such a notice for a room and a session of private-use characters": toDevice("m.room_key.withheld", {
    algorithm: MEGOLM,
    room_id: `!${TOO_LONG.slice(1)}`,
    session_id: TOO_LONG,
    code: "m.unverified",
  }),
  "a request for a key of a device, a session and a request that are called so": toDevice(
    "m.room_key_request",
    {
      action: "request",
      requesting_device_id: TOO_LONG,
      request_id: TOO_LONG,
      body: { algorithm: MEGOLM, room_id: "!r", session_id: "s", sender_key: "k" },
    },
    "@bot:localhost",
  ),
  "an encrypted event of a session that is called so": (body) => {
    const room = ((body.rooms ??= {}).join ??= {})[`!${PRIVATE.slice(5)}`] = {} as SyncBody;
    ((room.timeline ??= {}).events ??= []).unshift({
      type: "m.room.encrypted",
      event_id: "$encrypted",
      sender: "@alice:localhost",
      origin_server_ts: 1,
      content: { algorithm: MEGOLM, session_id: TOO_LONG, ciphertext: "AAAA", device_id: PRIVATE },
    });
  },
  "members, types and state keys that are called so": (body, roomId) => {
    const room = ((body.rooms ??= {}).join ??= {})[roomId] ??= {};
    const event = { sender: "@alice:localhost", origin_server_ts: 1, content: { membership: "join" } };
    ((room.timeline ??= {}).events ??= []).unshift(
      { ...event, type: "m.room.member", event_id: "$1", state_key: `@${TOO_LONG}:a` },
      { ...event, type: "m.room.member", event_id: "$2", state_key: `@${PRIVATE.slice(5)}:a` },
      { ...event, type: "\0".repeat(255), event_id: "$3", state_key: "\0".repeat(255) },
    );
  },
  "rooms that are called so": (body) => {
    const event = {
      sender: "@alice:localhost",
      origin_server_ts: 1,
      event_id: "$1",
      state_key: "",
      content: {},
    };
    const rooms = (body.rooms ??= {}).join ??= {};
    for (const name of [PRIVATE.slice(1), TOO_LONG, "\0".repeat(254), BAD.slice(1)]) {
      rooms[`!${name}`] = {
        timeline: { events: [{ ...event, type: PRIVATE, state_key: "\0".repeat(255) }] },
      };
    }
  },
  "users with changed devices that are called so": (body) => {
    body.device_lists = { changed: [`@${TOO_LONG}:a`, `@${BAD}:a`, `@\0:a`, "@x\ud800:a"] };
  },
};

for (const [name, poison] of Object.entries(POISONS)) {
  Deno.test(`T61: ${name}: the bot goes on, also when it is started again`, async () => {
    await using bot = await victim(await KvStore.open(":memory:"));
    const { roomId } = bot;
    assertEquals(await bot.live("one"), ["one"]);
    assertEquals(await bot.live("two", (body) => poison(body, roomId)), ["two"]);
    assertEquals(await bot.live("three", (body) => poison(body, roomId)), ["three"]);
    assertEquals(await bot.live("four"), ["four"]);
  });
}

Deno.test("T61: an encrypted event of such a session, while there is an own verified device to ask for its key", async () => {
  await using bot = await victim(await KvStore.open(":memory:"));
  const other = bot.client("bot", "OTHER");
  await other.syncOnce();
  const { roomId } = bot;
  const { ed25519 } = await other.crypto?.getOwnDeviceKeys() ?? {};
  const compared = { userId: "@bot:localhost", deviceId: "OTHER", ed25519 } as ComparedDevice;
  const trust = async (client: Client) => await client.crypto?.setDeviceTrust(compared, "verified");
  const poison = POISONS["an encrypted event of a session that is called so"];
  assertEquals(await bot.live("one", undefined, trust), ["one"]);
  assertEquals(await bot.live("two", (body) => poison?.(body, roomId)), ["two"]);
  assertEquals(await bot.live("three", (body) => poison?.(body, roomId)), ["three"]);
});

Deno.test("T61: members whose devices have such IDs: all others can be written to", async () => {
  await using bot = await victim(await KvStore.open(":memory:"));
  const members = [["mallory", TOO_LONG], ["eve", PRIVATE], ["\ue000".repeat(80), TOO_LONG], [
    "carol",
    "CAROL",
  ]];
  const [mallory, eve, nameless, carol] = members.map(([name = "", device = ""]) =>
    bot.client(name, device)
  ) as [Client, Client, Client, Client];
  const encryption = { type: "m.room.encryption", state_key: "", content: { algorithm: MEGOLM } };
  const room = await mallory.createRoom({ preset: "public_chat", initialState: [encryption] });
  for (const each of [mallory, eve, nameless, carol]) {
    await each.joinRoom(room);
    await each.syncOnce();
  }
  const speak = async (client: Client) => {
    await client.joinRoom(room);
    await client.sendText(room, "for all");
  };
  assertEquals(await bot.live("one", undefined, speak), ["for all", "one"]);
  const heard: string[] = [];
  carol.on("m.room.message", ({ content }) => heard.push(content.body));
  await carol.syncOnce();
  assertEquals(heard, ["for all"]);
});
