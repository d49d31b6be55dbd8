/**
 * A stranger with keys of its own: it encrypts for devices what no honest client does. Each variety
 * names the threat of `SECURITY.md` that it stands for.
 *
 * @module
 */

import type { HostileMessage, Intruder } from "../world/intruder.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";

/** How many keys are sent at once that nobody needs. */
const FLOOD = 12;
/** Over how many messages a ratchet is to be moved on at once: more than are allowed. */
const GAP = 2_100;

/** The ID of a session of the action's room, if there is one. */
function sessionOf({ world, room, action }: Scene): string | undefined {
  const ids = world.homeserver.room(room.id).messages.flatMap(({ content }) =>
    typeof content.session_id === "string" ? [content.session_id] : []
  );
  return chosen(ids, action.where);
}

/** What is sent, by threat. */
const MESSAGES: readonly (readonly [
  threat: string,
  message: (scene: Scene, intruder: Intruder) => HostileMessage,
])[] = [
  ["T02", (scene, intruder) => ({
    ...roomKey(scene, intruder),
    says: { sender_device_keys: intruder.keysOf({ userId: scene.device.userId, deviceId: "OTHER" }) },
  })],
  ["T03", (scene, intruder) => ({
    ...roomKey(scene, intruder),
    says: { recipient: "@other:localhost", recipient_keys: { ed25519: "A".repeat(43) } },
  })],
  [
    "T04",
    (scene, intruder) => ({ ...roomKey(scene, intruder), says: { keys: { ed25519: "A".repeat(43) } } }),
  ],
  ["T11", (scene, intruder) => ({ ...roomKey(scene, intruder), gap: GAP })],
  ["T28", (scene, intruder) => ({
    type: "m.forwarded_room_key",
    content: {
      ...roomKey(scene, intruder).content,
      sender_key: "A".repeat(43),
      sender_claimed_ed25519_key: "A".repeat(43),
      forwarding_curve25519_key_chain: [],
    },
  })],
  ["T32", (scene, intruder) => ({
    type: "m.room_key",
    content: { ...roomKey(scene, intruder).content, session_id: sessionOf(scene) ?? "x" },
  })],
  ["T33, T81", (scene, intruder) => {
    const { content } = roomKey(scene, intruder);
    return { type: "m.room_key", content: { ...content, session_key: `${content.session_key}AAAA` } };
  }],
  ["T44", () => ({ type: "m.room.encrypted", content: { algorithm: "m.megolm.v1.aes-sha2" } })],
  ["T50", ({ action }, intruder) => ({
    type: action.where % 2 === 0 ? "m.secret.send" : "m.secret.push",
    content: {
      request_id: `r${action.where}`,
      name: "m.cross_signing.self_signing",
      secret: intruder.roomSession().key.slice(0, 43),
    },
  })],
  ["T71", roomKey],
];

function roomKey({ room }: Scene, intruder: Intruder): HostileMessage {
  const { id, key } = intruder.roomSession();
  const content = {
    algorithm: "m.megolm.v1.aes-sha2",
    room_id: room.id,
    session_id: id,
    session_key: key,
    shared_history: true,
  };
  return { type: "m.room_key", content };
}

/** The kinds. */
export const intrusion: readonly ActionKind[] = [{
  name: "a stranger encrypts something hostile",
  weight: 3,
  async perform(scene) {
    const { world, device, action: { what } } = scene;
    const intruder = await world.intruder();
    const [threat, message] = chosen(MESSAGES, what) ?? ["", roomKey];
    for (let count = threat === "T71" ? FLOOD : 1; count > 0; count--) {
      const content = await intruder.encrypt(device, message(scene, intruder));
      if (content === undefined) return;
      world.reach(`threat: ${threat}`);
      const path = `v3/sendToDevice/m.room.encrypted/intrusion-${world.timeline.instant()}`;
      await world.ask(world.stranger.accessToken, "PUT", path, {
        messages: { [device.userId]: { [device.deviceId]: content } },
      });
    }
    world.note(`${threat}: a stranger has written to ${device.name}`);
  },
}];
