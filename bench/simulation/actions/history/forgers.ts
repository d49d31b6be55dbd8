/**
 * History that is shared by who has not invited, that nobody has said, or that the server spoils. Each action
 * names the threats of `SECURITY.md` that it stands for.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { RoomID } from "@greenroom/matrix/types";
import { encryptAttachment } from "../../../../src/crypto/attachments/attachments.ts";
import { BUNDLE_TYPES } from "../../../../src/crypto/olm/olm.ts";
import type { Device } from "../../world/device.ts";
import { spoiled } from "../../world/history.ts";
import { FILES } from "../../world/network.ts";
import type { World } from "../../world/world.ts";
import { type ActionKind, chosen } from "../action.ts";
import { findGuest, share, sharersIn, talk } from "./invitations.ts";

/** A file that is larger than any that is taken, in bytes. */
const ENORMOUS = 33 * 2 ** 20;

/** What a server makes of a file. */
const SPOILT: readonly (readonly [how: string, change: (bytes: Uint8Array) => Uint8Array])[] = [
  ["with another byte", (bytes) => bytes.map((byte, index) => index === 7 ? byte ^ 1 : byte)],
  ["cut off", (bytes) => bytes.slice(0, -3)],
  ["empty", () => new Uint8Array()],
  ["with more behind it", (bytes) => concat([bytes, bytes])],
  ["as JSON", () => new TextEncoder().encode('{"room_keys":[{}]}')],
  ["enormous", () => new Uint8Array(ENORMOUS)],
];

/** The keys that a device has, or is said to have. */
export interface AllegedKeys {
  readonly curve25519: string;
  readonly ed25519: string;
}

const NOBODYS: AllegedKeys = { curve25519: "B".repeat(43), ed25519: "B".repeat(43) };

/**
 * Makes a file with the key of a session in the name of a device;
 * what it is, and a ciphertext of that session.
 *
 * @param options.keys What the file says are the device's keys. Default: those of nobody.
 * @param options.sessionId The session that the file says it is of. Default: that which is made.
 */
export async function forge(
  world: World,
  { author, room, body, keys = NOBODYS, sessionId }: {
    readonly author: Device;
    readonly room: RoomID;
    readonly body: string;
    readonly keys?: AllegedKeys;
    readonly sessionId?: string;
  },
): Promise<{ readonly file: Record<string, unknown>; readonly event: Record<string, unknown> }> {
  const { megolm } = await Vodozemac.load();
  using session = megolm.createOutbound();
  using copy = megolm.createInbound(session.sessionKey());
  const named = { algorithm: "m.megolm.v1.aes-sha2", session_id: session.sessionId };
  const key = {
    ...named,
    ...{ room_id: room, session_key: copy.exportAt(0), sender_key: keys.curve25519 },
    ...sessionId === undefined ? {} : { session_id: sessionId },
  };
  const bundle = { room_keys: [{ ...key, sender_claimed_keys: { ed25519: keys.ed25519 } }], withheld: [] };
  const { stream, secrets } = encryptAttachment(new TextEncoder().encode(JSON.stringify(bundle)));
  const bytes = concat(await Array.fromAsync(stream));
  world.timeline.instant();
  const { homeserver, stranger } = world;
  const answer = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/media/v3/upload`, {
    method: "POST",
    headers: { authorization: `Bearer ${stranger.accessToken}`, "content-type": "application/octet-stream" },
    body: bytes,
  });
  const { content_uri: url } = await answer.json();
  const said = { type: "m.room.message", content: { msgtype: "m.text", body }, room_id: room };
  const event = { ...named, device_id: author.deviceId, ciphertext: session.encrypt(JSON.stringify(said)) };
  return { file: { ...secrets(), url }, event };
}

/** The kinds. */
export const historyForgers: readonly ActionKind[] = [
  {
    name: "a member who does not invite shares the history",
    weight: 4,
    isOfHistory: true,
    async perform({ world, room, action: { who, what } }) {
      const [creator] = world.accounts;
      const sharer = chosen(sharersIn(world, room).filter(({ account }) => account !== creator), who);
      if (sharer === undefined || creator === undefined) return;
      const guest = await findGuest(world, { sharer, room, what });
      if (guest === undefined) return;
      await talk(world, room, guest);
      world.reach("threat: T39");
      world.note(`T39: ${sharer.name} shares history with ${guest.userId}, whom another invites`);
      const path = `v3/rooms/${encodeURIComponent(room.id)}/invite`;
      const invite = async () =>
        await world.ask(await creator.token(), "POST", path, { user_id: guest.userId });
      if (what % 2 === 0) await invite();
      await share(
        world,
        { sharer, room: room.id, guest },
        (client) => client.crypto?.shareHistory(room.id, guest.userId),
      );
      if (what % 2 > 0) await invite();
    },
  },
  {
    name: "a stranger announces history that nobody has said",
    weight: 3,
    isOfHistory: true,
    async perform({ world, device, room, action: { where, what } }) {
      const author = chosen(
        world.devices.filter((each) => each.goneAt === Infinity && each !== device),
        what,
      );
      if (author === undefined || room.encryptedAt === Infinity || !device.account.encrypts) return;
      const body = `made up ${world.forged.size}`;
      const { file, event } = await forge(world, { author, room: room.id, body });
      const said = {
        type: chosen(BUNDLE_TYPES, where) ?? BUNDLE_TYPES[0],
        content: { room_id: room.id, file },
        ...where % 3 === 0 ? { says: { sender: author.userId } } : {},
      };
      const content = await (await world.intruder()).encrypt(device, said);
      if (content === undefined) return;
      world.reach("threat: T39");
      world.note(`T39: a stranger announces history to ${device.name}`);
      const to = `v3/sendToDevice/m.room.encrypted/history-${world.timeline.instant()}`;
      const messages = { [device.userId]: { [device.deviceId]: content } };
      await world.ask(world.stranger.accessToken, "PUT", to, { messages });
      const path = `v3/rooms/${encodeURIComponent(room.id)}/send/m.room.encrypted/${
        body.replaceAll(" ", "-")
      }`;
      const { event_id } = await world.ask(await author.account.token(), "PUT", path, event);
      if (typeof event_id === "string") world.forged.add(event_id);
    },
  },
  {
    name: "the server spoils the next file of a device",
    weight: 2,
    isOfHistory: true,
    perform({ world, device, action: { what } }) {
      const [how = "", change] = chosen(SPOILT, what) ?? [];
      world.network.tamper(device, FILES, (file) => {
        world.reach("threat: T39");
        world.note(`T39: the server gives ${device.name} a file ${how}`);
        spoiled.set(device, world.timeline.now);
        file.bytes = change?.(file.bytes) ?? file.bytes;
      });
    },
  },
];
