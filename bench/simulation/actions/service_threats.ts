/**
 * A homeserver, a member and a stranger that are hostile to an application service whose users encrypt. Each
 * action names the threats of `SECURITY.md` that it stands for.
 *
 * @module
 */

import { SERVICE_DEVICE } from "../appservice/service_published.ts";
import type { WorldService } from "../appservice/world_service.ts";
import type { World } from "../world/world.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";

// deno-lint-ignore no-explicit-any -- the JSON of a response, which is changed in any way
type Json = any;

const KEY = "A".repeat(43);
/** How many events of sessions that are made up are sent. */
const MADE_UP = 3;

/** Does something in a world with an application service whose users encrypt. */
function of(
  perform: (service: WorldService, scene: Scene) => void | Promise<void>,
): (scene: Scene) => void | Promise<void> {
  return (scene) => {
    const { service } = scene.world;
    return service?.plan.isEncrypted === true ? perform(service, scene) : undefined;
  };
}

/** What a homeserver makes of an answer about devices. */
const LIES: readonly (readonly [
  threat: string,
  lie: (scene: Scene, service: WorldService) => (body: Json) => void,
])[] = [
  ["T16", ({ device: { userId, deviceId } }) => (body) => delete body.device_keys?.[userId]?.[deviceId]],
  ["T23", ({ device: { userId, deviceId } }) => (body) => {
    const keys = body.device_keys?.[userId]?.[deviceId]?.keys;
    if (keys !== undefined) keys[`curve25519:${deviceId}`] = KEY;
  }],
  ["T18", ({ device: { userId } }) => (body) => {
    const key = { user_id: userId, usage: ["master"], keys: { [`ed25519:${KEY}`]: KEY } };
    (body.master_keys ??= {})[userId] = key;
    (body.self_signing_keys ??= {})[userId] = { ...key, usage: ["self_signing"] };
  }],
  ["T21", ({ device: { userId } }) => (body) => (body.master_keys ??= {})[userId] = null],
];

/** What a stranger encrypts for a user, or does not. */
async function strangersWords(
  { world, room, action: { where } }: Scene,
  user: { readonly userId: never; readonly deviceId: never },
): Promise<readonly [threat: string, type: string, content: Json]> {
  const intruder = await world.intruder();
  const { id, key } = intruder.roomSession();
  const event = world.service === undefined ? undefined : ciphertextIn(world, world.service, where);
  const session = { algorithm: "m.megolm.v1.aes-sha2", room_id: event?.room ?? room.id };
  const roomKey = { ...session, session_id: id, session_key: key, shared_history: true };
  const known = { ...roomKey, session_id: event?.content.session_id ?? id };
  switch (where % 4) {
    case 0:
      return [
        "T71",
        "m.room.encrypted",
        await intruder.encrypt(user, { type: "m.room_key", content: roomKey }),
      ];
    case 1:
      return [
        "T32",
        "m.room.encrypted",
        await intruder.encrypt(user, { type: "m.room_key", content: known }),
      ];
    case 2:
      return ["T01", "m.room_key", roomKey];
    default: {
      const body = { ...session, session_id: event?.content.session_id, sender_key: "x" };
      const requesting_device_id = world.stranger.deviceId;
      return ["T29", "m.room_key_request", {
        action: "request",
        request_id: `r${where}`,
        requesting_device_id,
        body,
      }];
    }
  }
}

/** An encrypted event of a room of the application service. */
function ciphertextIn(world: World, { rooms }: WorldService, where: number): Json {
  const events = rooms.flatMap((room) =>
    world.homeserver.room(room).messages.filter(({ content }) => content.session_id !== undefined)
      .map((event) => ({ ...event, room }))
  );
  return chosen(events, where);
}

/** The kinds. */
export const serviceThreats: readonly ActionKind[] = [
  {
    name: "a homeserver lies to a service about devices",
    weight: 12,
    isOfService: true,
    perform: of((service, scene) => {
      const { world, device, action: { what } } = scene;
      const [threat = "", lie] = chosen(LIES, what) ?? [];
      if (lie === undefined) return;
      const change = lie(scene, service);
      service.way.tampers.push({
        path: "/keys/query",
        change: (body) => {
          if (body.device_keys?.[device.userId] === undefined) return false;
          world.reach(`threat: ${threat} to a service`);
          world.note(`${threat}: the homeserver lies to the service about ${device.name}`);
          const ofUser = threat === "T18" || threat === "T21";
          for (const each of ofUser ? device.account.devices : [device]) service.ledger.hidden.add(each);
          change(body);
          return true;
        },
      });
    }),
  },
  {
    name: "a homeserver shows a service a device that it has made up",
    weight: 6,
    isOfService: true,
    perform: of(async (service, { world, device: { userId }, action: { where } }) => {
      const intruder = await world.intruder();
      const deviceId = `SERVERS${where}`;
      service.way.tampers.push({
        path: "/keys/query",
        change: (body) => {
          const devices = body.device_keys?.[userId];
          if (devices === undefined) return false;
          world.reach("threat: T17 to a service");
          devices[deviceId] = intruder.keysOf({ userId, deviceId: deviceId as never });
          return true;
        },
      });
    }),
  },
  {
    name: "a stranger writes to the device of a service",
    weight: 12,
    isOfService: true,
    perform: of(async (service, scene) => {
      const { world, action: { what } } = scene;
      const userId = chosen(service.users, what);
      if (userId === undefined) return;
      const user = { userId: userId as never, deviceId: SERVICE_DEVICE as never };
      const [threat, type, content] = await strangersWords(scene, user);
      if (content === undefined) return;
      world.reach(`threat: ${threat} to a service`);
      world.note(`${threat}: a stranger writes to the device of ${userId}`);
      const path = `v3/sendToDevice/${type}/service-${world.timeline.instant()}`;
      const messages = { [userId]: { [SERVICE_DEVICE]: content } };
      await world.ask(world.stranger.accessToken, "PUT", path, { messages });
    }),
  },
  {
    name: "a member sends another's ciphertext to a service",
    weight: 8,
    isOfService: true,
    perform: of(async (service, { world, device, action: { where } }) => {
      const event = ciphertextIn(world, service, where);
      if (event === undefined || event.sender === device.userId || device.account.isBot) return;
      const path = `v3/rooms/${
        encodeURIComponent(event.room)
      }/send/m.room.encrypted/copy-${world.timeline.instant()}`;
      const { event_id } = await world.ask(await device.account.token(), "PUT", path, event.content);
      if (typeof event_id !== "string") return;
      const author = world.devices.find(({ deviceId }) => deviceId === event.content.device_id);
      world.forged.add(event_id);
      if (author !== undefined) world.copied.set(event_id, author);
      world.reach("threat: T31 to a service");
      world.note(`T31: ${device.userId} sends ${event.event_id} of ${event.sender} again, as ${event_id}`);
    }),
  },
  {
    name: "a member sends a service events of sessions that are made up",
    weight: 6,
    isOfService: true,
    perform: of(async (service, { world, device, action: { where, what } }) => {
      const room = chosen(service.rooms, where);
      if (room === undefined || device.account.isBot) return;
      const noise = world.chance.branch(`sessions for a service ${what}`);
      const random = (length: number): string =>
        noise.fill(new Uint8Array(length)).toBase64().replace(/=+$/, "");
      const token = await device.account.token();
      for (let count = 0; count < MADE_UP; count++) {
        const path = `v3/rooms/${
          encodeURIComponent(room)
        }/send/m.room.encrypted/up-${world.timeline.instant()}`;
        const { event_id } = await world.ask(token, "PUT", path, {
          algorithm: "m.megolm.v1.aes-sha2",
          session_id: random(32),
          ciphertext: random(120),
          device_id: device.deviceId,
        });
        if (typeof event_id === "string") world.forged.add(event_id);
      }
      world.reach("threat: T82 to a service");
      world.note(`T82: ${device.userId} sends the service events of sessions that are made up`);
    }),
  },
];
