/**
 * Members who share history that they have made up, with devices that their identities have signed.
 * Each action names the threats of `SECURITY.md` that it stands for.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";
import { BUNDLE_TYPES } from "../../../../src/crypto/olm/olm.ts";
import type { Device } from "../../world/device.ts";
import { Intruder } from "../../world/intruder.ts";
import type { World } from "../../world/world.ts";
import { type ActionKind, chosen } from "../action.ts";
import { newGuest, sharersIn } from "./invitations.ts";
import { type AllegedKeys, forge } from "./forgers.ts";
import { SEED_SECRETS } from "../../../../src/crypto/identity/identity.ts";

/**
 * By when a client has told a secret, and a guest has joined and taken in
 * what was announced, in milliseconds.
 */
const [PATIENCE, SOON] = [60_000, 20_000];

/** What a server shows of a user's keys. */
interface ShownKeys {
  readonly device_keys?: Record<string, Record<string, { readonly keys: Record<string, string> }>>;
  readonly self_signing_keys?: Record<string, { readonly keys: Record<string, string> }>;
}

async function keysOf(world: World, userId: string): Promise<ShownKeys> {
  const query = { device_keys: { [userId]: [] } };
  return await world.ask(world.stranger.accessToken, "POST", "v3/keys/query", query) as ShownKeys;
}

/** The keys of a device, as the server has them. */
async function deviceKeysOf(world: World, { userId, deviceId }: Device): Promise<AllegedKeys | undefined> {
  const { keys } = (await keysOf(world, userId)).device_keys?.[userId]?.[deviceId] ?? {};
  const [curve25519, ed25519] = [keys?.[`curve25519:${deviceId}`], keys?.[`ed25519:${deviceId}`]];
  return curve25519 === undefined || ed25519 === undefined ? undefined : { curve25519, ed25519 };
}

/** What a device's client is told of the secret storage of its user. */
async function secretOf(
  world: World,
  { client, account }: Device,
  name: string,
): Promise<string | undefined> {
  let isOver = false;
  let secret: string | undefined;
  const read = async (): Promise<void> => {
    using storage = await client?.secretStorage.open({ recoveryKey: account.recoveryKey ?? "" });
    secret = await storage?.get(name);
  };
  read().catch(() => {}).finally(() => isOver = true);
  await world.until(() => isOver, PATIENCE);
  return secret;
}

/** A device of a member's user that is signed by the user's identity, and does what it likes. */
async function traitorOf(world: World, member: Device): Promise<Intruder | undefined> {
  const { userId, account } = member;
  const known = world.traitors.get(userId);
  if (known !== undefined) return known;
  const seed = await secretOf(world, member, SEED_SECRETS.selfSigning);
  const [key] = Object.values((await keysOf(world, userId)).self_signing_keys?.[userId]?.keys ?? {});
  if (seed === undefined || key === undefined) return undefined;
  const { deviceId, token: accessToken } = await account.login({ refreshes: false });
  const traitor = await Intruder.publish({ userId, deviceId, accessToken }, world.ask);
  await traitor.sign(Uint8Array.fromBase64(seed), key);
  world.traitors.set(userId, traitor);
  world.note(`${userId} has a device ${deviceId} that is signed, and does what it likes`);
  return traitor;
}

/** An encrypted message of a device in a room, if there is one. */
function sessionOf({ homeserver }: World, room: RoomID, { deviceId }: Device): string | undefined {
  const event = homeserver.room(room).messages.find(({ content }) => content.device_id === deviceId);
  return event?.content.session_id as string | undefined;
}

/** The kinds. */
export const historyTraitors: readonly ActionKind[] = [
  {
    name: "a member with a signed device shares history that is made up",
    weight: 4,
    isOfHistory: true,
    async perform({ world, room, action: { who, where, what } }) {
      const member = chosen(sharersIn(world, room), who);
      if (member === undefined) return;
      const traitor = await traitorOf(world, member);
      const guest = traitor && await newGuest(world, { isStrict: world.isVouched && what % 2 === 0 });
      const reader = guest?.devices[0];
      if (traitor === undefined || guest === undefined || reader === undefined) return;
      const others = world.devices.filter((each) =>
        each.goneAt === Infinity && each.account !== member.account
      );
      const author = chosen(others, where);
      const keys = author && await deviceKeysOf(world, author);
      if (author === undefined || keys === undefined) return;
      const body = `made up by ${member.userId} ${world.hearsay.size}`;
      // One that its author has indeed, with another key; or one that is made up.
      const sessionId = what % 3 === 0 ? sessionOf(world, room.id, author) : undefined;
      const { file, event } = await forge(world, { author, room: room.id, body, keys, sessionId });
      const type = chosen(BUNDLE_TYPES, what >> 2) ?? BUNDLE_TYPES[0];
      const content = await traitor.encrypt(reader, { type, content: { room_id: room.id, file } });
      if (content === undefined) return;
      const { accessToken } = traitor.user;
      const to = `v3/sendToDevice/m.room.encrypted/traitor-${world.timeline.instant()}`;
      await world.ask(accessToken, "PUT", to, {
        messages: { [guest.userId]: { [reader.deviceId]: content } },
      });
      const path = `v3/rooms/${encodeURIComponent(room.id)}`;
      await world.ask(accessToken, "POST", `${path}/invite`, { user_id: guest.userId });
      world.reach("threat: T39 by a member");
      world.note(
        `T39: ${member.userId} shares history of ${author.name} with ${guest.userId}, who is invited`,
      );
      await world.timeline.pass(SOON);
      const txn = `made-up-${world.timeline.instant()}`;
      const token = await author.account.token();
      const { event_id } = await world.ask(token, "PUT", `${path}/send/m.room.encrypted/${txn}`, event);
      if (typeof event_id === "string") world.hearsay.set(event_id, member.userId);
      world.note(`T39: ${event_id} is in the name of ${author.name}`);
    },
  },
];
