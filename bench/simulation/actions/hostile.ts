/**
 * A hostile server: what it shows is not what is there. Each action names the threats of
 * `SECURITY.md` that it stands for.
 *
 * @module
 */

import type { Device } from "../world/device.ts";
import { Memberships } from "../judge/memberships.ts";
import { PLACEHOLDER } from "../world/network.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";

// deno-lint-ignore no-explicit-any -- the JSON of a response, which is changed in any way
type Json = any;

/** How the IDs of events begin that the server shows in place of others. */
export const SERVERS_COPY = "$copy";

/** An event of a room, as the server has it. */
function eventOf({ world, room, action }: Scene): Json {
  return chosen(world.homeserver.room(room.id).messages, action.what);
}

/** Changes the next sync response of a device. */
export function tamper(scene: Scene, threat: string, change: (body: Json) => void): void {
  const { world, device, room: { id } } = scene;
  world.note(`${threat}: the server changes the next sync response of ${device.name}`);
  world.network.tamper(device, "/sync", (body) => {
    world.reach(`threat: ${threat}`);
    change(body);
    const { invite, join, leave } = body.rooms ?? {};
    if (invite?.[id] && join?.[id]) device.account.unjoined.add(id); // who is in a room needs no invitation
    if ((invite?.[id] || leave?.[id]) && join?.[id]) device.shownJoined.add(id);
  });
}

/** The timeline of a room in a sync response; made if there is none. */
export function timelineOf(body: Json, roomId: string): Json[] {
  const joined = ((body.rooms ??= {}).join ??= {});
  const room = joined[roomId] ??= { timeline: { events: [], limited: false } };
  return ((room.timeline ??= {}).events ??= []);
}

/** Garbage that parts of a response are replaced with. */
const GARBAGE: readonly Json[] = [
  null,
  5,
  "text",
  [],
  {},
  [null],
  [{}],
  { type: 5, content: "x" },
  [{ type: "m.room.encrypted", content: { algorithm: {}, ciphertext: [] }, sender: 7 }],
  { __proto__: null, constructor: { prototype: 1 } },
];

/** Has a device not be told what others have sent it, for a time. */
function holdToDevice({ world, device, action }: Scene): void {
  const { network, stranger, timeline } = world;
  for (let times = 1 + action.what % 3; times > 0; times--) {
    network.tamper(device, "/sync", (body) => {
      const events = body.to_device?.events ?? [];
      delete body.to_device;
      if (events.length === 0) return;
      const messages = { [device.userId]: { [device.deviceId]: network.hold(events) } };
      world.awaited++;
      timeline.schedule((1 + action.what % 7) * 10_000, "", () => {
        world.awaited--;
        world.placedAt = timeline.now;
        const path = `v3/sendToDevice/${PLACEHOLDER}/${timeline.instant()}`;
        world.ask(stranger.accessToken, "PUT", path, { messages });
      });
    });
  }
  world.note(`messages to ${device.name} come late, and in another order`);
}

/** Excuses a device of which others can't know the keys. */
function hide(device: Device): void {
  device.isHidden = true;
}

/** The kinds. */
export const hostile: readonly ActionKind[] = [
  {
    name: "shows an event again",
    weight: 3,
    perform(scene) {
      const event = eventOf(scene);
      if (event === undefined) return;
      const { device, room, world } = scene;
      device.disordered.add(event.event_id);
      tamper(scene, "T77", (body) => {
        // A timeline that begins with what was shown has no gap in front of it: what is there is left out.
        if (body.rooms?.join?.[room.id]?.timeline.limited === true) {
          const from = device.hasTaken ? device.seen : device.settled;
          for (const { event_id, origin_server_ts } of world.homeserver.room(room.id).messages) {
            if (origin_server_ts > from) device.spoiled.add(event_id);
          }
        }
        timelineOf(body, room.id).unshift({ ...event });
      });
    },
  },
  {
    name: "shows a ciphertext as another event",
    weight: 2,
    perform(scene) {
      const event = eventOf(scene);
      if (event?.type !== "m.room.encrypted") return;
      const copy = {
        ...event,
        event_id: `${SERVERS_COPY}${scene.action.where}`,
        origin_server_ts: scene.world.timeline.now,
      };
      tamper(scene, "T31", (body) => timelineOf(body, scene.room.id).push(copy));
    },
  },
  {
    name: "replaces senders",
    weight: 1,
    perform(scene) {
      const { world, room, device } = scene;
      const other = chosen(world.accounts, scene.action.what)?.userId;
      tamper(scene, "T30", (body) => {
        for (const event of timelineOf(body, room.id)) {
          if (event.type !== "m.room.encrypted" || event.sender === other) continue;
          event.sender = other;
          device.spoiled.add(event.event_id);
        }
      });
    },
  },
  { name: "holds messages to a device", weight: 4, perform: holdToDevice },
  {
    name: "says that a room is in clear",
    weight: 2,
    perform(scene) {
      const { world, room, device, action } = scene;
      const [creator] = world.accounts;
      const content = chosen([{}, { algorithm: "none" }, { algorithm: null }], action.what);
      const event_id = `$clear${action.what}`;
      const state = { type: "m.room.encryption", state_key: "", sender: creator?.userId, content, event_id };
      if (room.encryptedAt === Infinity) return;
      tamper(
        scene,
        "T40",
        (body) => timelineOf(body, room.id).push({ ...state, origin_server_ts: world.timeline.now }),
      );
      world.network.tamper(device, "/state/m.room.encryption", (body) => {
        for (const key of Object.keys(body)) delete body[key];
      });
    },
  },
  {
    name: "forges a message in clear",
    weight: 2,
    perform(scene) {
      const { world, room, action, device } = scene;
      const memberships = new Memberships(world.homeserver, room.id);
      if (room.encryptedAt > device.seen || memberships.at(device.userId, device.seen) !== "join") return;
      const sender = chosen(world.accounts, action.what)?.userId;
      const content = { msgtype: "m.text", body: "peer server 0" };
      const event_id = `$forged${action.what}`;
      const event = {
        type: "m.room.message",
        sender,
        content,
        event_id,
        origin_server_ts: world.timeline.now,
      };
      tamper(scene, "T41", (body) => timelineOf(body, room.id).push(event));
    },
  },
  {
    name: "sends malformed parts",
    weight: 3,
    perform(scene) {
      const { action: { where, what }, room } = scene;
      const garbage = structuredClone(chosen(GARBAGE, what));
      tamper(scene, "T26, T44, T64", (body) => {
        const places = [
          () => (body.to_device?.events ?? (body.to_device = { events: [] }).events).push(garbage),
          () => timelineOf(body, room.id).push(garbage),
          () => ((body.rooms ??= {}).invite ??= {})[`!no${what}`] = garbage,
          () => ((body.rooms ??= {}).leave ??= {})["!no"] = garbage,
          () => (body.device_lists ??= {}).left = garbage,
          () => body.account_data = garbage,
          () => body.presence = garbage,
        ];
        chosen(places, where)?.();
      });
    },
  },
  {
    name: "lies about key counts",
    weight: 2,
    perform(scene) {
      const count = chosen([0, 1, 1e9, -1, "many", null], scene.action.what);
      tamper(scene, "T14", (body) => {
        body.device_one_time_keys_count = { signed_curve25519: count };
        if (scene.action.where % 2 === 0) body.device_unused_fallback_key_types = [];
      });
    },
  },
  {
    name: "leaves out or changes device keys",
    weight: 1,
    perform({ world, device, action }) {
      const victim = chosen(world.devices, action.what);
      if (victim === undefined) return;
      hide(victim);
      world.note(`T16, T23: the server shows ${device.name} no keys, or others, of ${victim.name}`);
      world.network.tamper(device, "/keys/query", (body) => {
        const devices = body.device_keys?.[victim.userId];
        const keys = devices?.[victim.deviceId]?.keys;
        if (keys === undefined) return;
        world.reach("threat: T16, T23");
        if (action.where % 2 === 0) delete devices[victim.deviceId];
        else keys[`curve25519:${victim.deviceId}`] = "A".repeat(43);
      });
    },
  },
];
