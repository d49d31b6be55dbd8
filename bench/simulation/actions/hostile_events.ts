/**
 * A hostile server that shows events and messages which nobody has sent, or not so. Each action names
 * the threats of `SECURITY.md` that it stands for.
 *
 * @module
 */

import { Memberships } from "../judge/memberships.ts";
import { DEEP } from "../world/network.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";
import { tamper, timelineOf } from "./hostile.ts";

// deno-lint-ignore no-explicit-any -- the JSON of a response, which is changed in any way
type Json = any;

/** How long names are that are too long. */
const LONG = "x".repeat(3_000);
/** How many sessions are made up at once. */
const MADE_UP = 20;

/** An event that the server makes up. */
function madeUp({ world, action }: Scene, event: Json): Json {
  const event_id = `$madeup${action.where}${action.what}`;
  const sender = chosen(world.accounts, action.where)?.userId;
  return { event_id, sender, origin_server_ts: world.timeline.now, content: {}, ...event };
}

/** Events with names that the specification does not allow. */
const NAMES: readonly Json[] = [
  { type: "m.room.message", event_id: `$${LONG}`, content: { msgtype: "m.text", body: "" } },
  { type: LONG },
  { type: "m.room.member", state_key: `@${LONG}:localhost`, content: { membership: "join" } },
  { type: "m.room.topic", state_key: LONG, content: { topic: "" } },
  { type: "org.example\u0000\u0007", state_key: "\ud800", content: {} },
  { type: "m.room.message", sender: `@${LONG}`, content: { msgtype: "m.text", body: "" } },
];

/** State that lies. */
const LIES: readonly (readonly [threat: string, event: Json])[] = [
  ["T35", { type: "m.room.member", state_key: "@ghost:localhost", content: { membership: "join" } }],
  ["T38", {
    type: "m.room.history_visibility",
    state_key: "",
    content: { history_visibility: "world_readable" },
  }],
  ["T42", { type: "m.room.encrypted", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } }],
];

/** The kinds. */
export const hostileEvents: readonly ActionKind[] = [
  {
    name: "shows messages to a device again",
    weight: 2,
    perform(scene) {
      const { world, device } = scene;
      tamper(scene, "T06", (body) => {
        const events = (body.to_device ??= {}).events ??= [];
        events.unshift(...structuredClone(world.network.messagesTo(device)));
      });
    },
  },
  {
    name: "shows state that lies",
    weight: 2,
    perform(scene) {
      const [threat, event] = chosen(LIES, scene.action.what) ?? ["", {}];
      tamper(scene, threat, (body) => timelineOf(body, scene.room.id).push(madeUp(scene, event)));
    },
  },
  {
    name: "shows names that are not allowed",
    weight: 2,
    perform(scene) {
      const { room, action: { what } } = scene;
      tamper(scene, "T61, T62", (body) => {
        timelineOf(body, what % 4 === 0 ? `!${LONG}` : room.id).push(madeUp(scene, chosen(NAMES, what)));
      });
    },
  },
  {
    name: "nests JSON without end",
    weight: 1,
    perform(scene) {
      const { device, room, action: { what } } = scene;
      const nested = { algorithm: "m.megolm.v1.aes-sha2", session_id: "x", ciphertext: DEEP, deep: DEEP };
      tamper(scene, "T64", (body) => {
        const places = [
          () => timelineOf(body, room.id).push(madeUp(scene, { type: "org.example", content: nested })),
          () => timelineOf(body, room.id).push(madeUp(scene, { type: "m.room.encrypted", content: nested })),
          () =>
            ((body.to_device ??= {}).events ??= []).push({
              type: "m.room.encrypted",
              sender: device.userId,
              content: nested,
            }),
          () => body.account_data = { events: [{ type: "org.example", content: nested }] },
        ];
        chosen(places, what)?.();
      });
    },
  },
  {
    name: "relates events to others",
    weight: 2,
    perform(scene) {
      const { world, room, device, action: { where, what } } = scene;
      const target = chosen(world.homeserver.room(room.id).messages, where)?.event_id;
      const rel_type = chosen(["m.replace", "m.reference", "m.thread"], what);
      tamper(scene, "T43, T78", (body) => {
        for (const { type, content, event_id } of timelineOf(body, room.id)) {
          if (type !== "m.room.encrypted") continue;
          content["m.relates_to"] = { rel_type, event_id: target };
          if (rel_type === "m.replace") world.shownAsEdits.add(`${device.name} ${event_id}`);
        }
      });
    },
  },
  {
    name: "claims that an event in clear was encrypted",
    weight: 2,
    perform(scene) {
      const { world, room, device, action: { what } } = scene;
      const memberships = new Memberships(world.homeserver, room.id);
      if (room.encryptedAt > device.seen || memberships.at(device.userId, device.seen) !== "join") return;
      const encryption = { sender: device.userId, trust: "verified", algorithm: "m.megolm.v1.aes-sha2" };
      const event = madeUp(scene, {
        type: "m.room.message",
        content: { msgtype: "m.text", body: "peer server 0" },
        ...chosen(
          [{ encryption }, { unsigned: { encryption } }, { source: 1, decrypted: true, encryption }],
          what,
        ),
      });
      tamper(scene, "T66, T67", (body) => timelineOf(body, room.id).push(event));
    },
  },
  {
    name: "sends events of sessions that are made up",
    weight: 1,
    async perform({ world, device, room, action: { what } }) {
      world.reach("threat: T82, T87");
      const token = await device.account.token();
      const noise = world.chance.branch(`sessions ${what}`);
      for (let count = 0; count < MADE_UP; count++) {
        const content = {
          algorithm: "m.megolm.v1.aes-sha2",
          session_id: noise.fill(new Uint8Array(32)).toBase64().replace(/=+$/, ""),
          ciphertext: noise.fill(new Uint8Array(120)).toBase64().replace(/=+$/, ""),
          device_id: device.deviceId,
        };
        const path = `v3/rooms/${
          encodeURIComponent(room.id)
        }/send/m.room.encrypted/up-${world.timeline.instant()}`;
        const { event_id } = await world.ask(token, "PUT", path, content);
        if (typeof event_id === "string") world.forged.add(event_id);
      }
      world.note(`${device.userId} sends events of sessions that are made up`);
    },
  },
];
