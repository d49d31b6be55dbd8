/**
 * Hostile members and strangers: they do by themselves what no honest client does. Each action names
 * the threats of `SECURITY.md` that it stands for.
 *
 * @module
 */

import type { Device } from "../world/device.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";

/** How many one-time keys a device has, and some more. */
const MORE_THAN_ALL_KEYS = 55;

/** Sends a message to a device, without a client. */
async function sendTo(
  { world, action }: Scene,
  device: Device,
  [type, content]: readonly [string, Record<string, unknown>],
): Promise<void> {
  const { accessToken } = world.stranger;
  const path = `v3/sendToDevice/${type}/hostile-${world.timeline.instant()}-${action.what}`;
  await world.ask(accessToken, "PUT", path, {
    messages: { [device.userId]: { [device.deviceId]: content } },
  });
}

/** The identity key of a device, as the server has it. */
async function identityKeyOf({ world }: Scene, { userId, deviceId }: Device): Promise<string> {
  const { device_keys } = await world.ask(world.stranger.accessToken, "POST", "v3/keys/query", {
    device_keys: { [userId]: [] },
  }) as { device_keys?: Record<string, Record<string, { keys: Record<string, string> }>> };
  return device_keys?.[userId]?.[deviceId]?.keys[`curve25519:${deviceId}`] ?? "A".repeat(43);
}

/** An encrypted event of the action's room. */
function ciphertextOf({ world, room, action }: Scene) {
  const events = world.homeserver.room(room.id).messages.filter(({ content }) =>
    content.session_id !== undefined
  );
  return chosen(events, action.what);
}

/** The kinds. */
export const strangers: readonly ActionKind[] = [
  {
    name: "sends garbage to a device",
    weight: 3,
    async perform(scene) {
      const { world, device, room, action: { what, where } } = scene;
      world.reach("threat: T01, T05, T12, T13, T15, T28, T45");
      const noise = world.chance.branch(`noise ${what} ${where}`).fill(new Uint8Array(80)).toBase64();
      const session = {
        room_id: room.id,
        session_id: ciphertextOf(scene)?.content.session_id ?? "x",
        sender_key: "x",
      };
      const megolm = { algorithm: "m.megolm.v1.aes-sha2", ...session };
      const olm = async (type: number) => ({
        algorithm: "m.olm.v1.curve25519-aes-sha2",
        sender_key: "B".repeat(43),
        ciphertext: { [await identityKeyOf(scene, device)]: { type, body: noise } },
      });
      const messages = [
        async () => ["m.room.encrypted", await olm(0)] as const,
        async () => ["m.room.encrypted", await olm(1)] as const,
        () => ["m.room_key", { ...megolm, session_key: noise }] as const,
        () => ["m.forwarded_room_key", { ...megolm, session_key: noise }] as const,
        () => ["m.room.encrypted", { ...megolm, ciphertext: noise }] as const,
        () => ["m.room_key.withheld", { ...megolm, code: "m.blacklisted" }] as const,
        () => ["m.dummy", {}] as const,
      ];
      const message = await chosen(messages, what)?.();
      if (message !== undefined) await sendTo(scene, device, message);
    },
  },
  {
    name: "claims keys without end",
    weight: 1,
    async perform({ world, device }) {
      world.reach("threat: T07");
      for (let count = 0; count < MORE_THAN_ALL_KEYS; count++) {
        await world.ask(world.stranger.accessToken, "POST", "v3/keys/claim", {
          one_time_keys: { [device.userId]: { [device.deviceId]: "signed_curve25519" } },
        });
      }
      world.note(`a stranger has claimed all keys of ${device.name}`);
    },
  },
  {
    name: "asks for keys",
    weight: 2,
    async perform(scene) {
      const { world, device, room } = scene;
      const event = ciphertextOf(scene);
      if (event === undefined) return;
      world.reach("threat: T29");
      await sendTo(scene, device, ["m.room_key_request", {
        action: "request",
        request_id: `r${scene.action.what}`,
        requesting_device_id: world.stranger.deviceId,
        body: {
          algorithm: "m.megolm.v1.aes-sha2",
          room_id: room.id,
          session_id: event.content.session_id,
          sender_key: event.content.sender_key,
        },
      }]);
    },
  },
  {
    name: "a nosy member asks for keys",
    weight: 3,
    async perform(scene) {
      const { world, room } = scene;
      const event = ciphertextOf(scene);
      const author = world.devices.find(({ deviceId }) => deviceId === event?.content.device_id);
      if (event === undefined || author === undefined) return;
      world.reach("threat: T29 by a member");
      await world.admitNosy(room);
      await world.nosy?.request(author, { room: room.id, sessionId: event.content.session_id });
      world.note(`a nosy member asks ${author.name} for the key of ${event.event_id}`);
    },
  },
  {
    name: "sends another's ciphertext as an own event",
    weight: 2,
    async perform(scene) {
      const { world, device, room, action: { where } } = scene;
      const event = ciphertextOf(scene);
      const author = world.devices.find(({ deviceId }) => deviceId === event?.content.device_id);
      // Who repeats their own words may, also if another has repeated them before.
      if (event === undefined || [event.sender, author?.userId].includes(device.userId)) return;
      world.reach("threat: T31, T34, T72");
      const content = where % 2 === 0 ? event.content : { ...event.content, session_id: `made up ${where}` };
      const path = `v3/rooms/${
        encodeURIComponent(room.id)
      }/send/m.room.encrypted/copy-${world.timeline.instant()}`;
      const { event_id } = await world.ask(await device.account.token(), "PUT", path, content);
      if (typeof event_id === "string") {
        world.forged.add(event_id);
        if (author !== undefined) world.copied.set(event_id, author);
      }
      world.note(`${device.userId} sends a ciphertext of ${event.sender} again, as ${event_id}`);
    },
  },
];
