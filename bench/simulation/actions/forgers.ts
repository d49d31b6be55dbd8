/**
 * A hostile server between those who verify each other, and in the backup of room keys. Each action
 * names the threats of `SECURITY.md` that it stands for.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { RoomID } from "@greenroom/matrix/types";
import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";
import { type ActionKind, chosen } from "./action.ts";
import { type Betrayal, isVerifying, verify } from "./verification.ts";

// deno-lint-ignore no-explicit-any -- the JSON of a response, which is changed in any way
type Json = any;

/** For how many responses the server waits for what it wants to change. */
const MOST_RESPONSES = 30;
/** How the types of the messages begin that users verify each other with. */
const VERIFICATION = "m.key.verification.";

/** The types of the first messages that either of the two gets. */
const BEGINNINGS: ReadonlySet<string> = new Set(["request", "ready"].map((step) => VERIFICATION + step));

/** What a server does that sits between two who verify each other; whether it could. */
const CHANGES: readonly (readonly [
  threat: string,
  step: string,
  change: (event: Json, scene: {
    readonly vodozemac: Vodozemac;
    readonly other: string;
  }) => void,
])[] = [
  ["T46 a key", "key", ({ content }, { vodozemac }) => {
    using mine = vodozemac.createSas();
    content.key = mine.publicKey;
  }],
  ["T46 a MAC", "mac", ({ content }) => {
    for (const name of Object.keys(content.mac ?? {})) content.mac[name] = "A".repeat(43);
  }],
  ["T46 a commitment", "accept", ({ content }) => content.commitment = "A".repeat(43)],
  ["T47 the method of MACs", "accept", ({ content }) => {
    content.message_authentication_code = "hkdf-hmac-sha256";
  }],
  ["T48 a sender", "mac", (event, { other }) => event.sender = other],
];

/** Has the server change a step of a verification that a device gets. */
function sitBetween(
  world: World,
  betrayal: Betrayal,
  { what, vodozemac, peer, left = MOST_RESPONSES, begun = new Set(), isFound = false }: {
    readonly what: number;
    /** The device that it verifies. */
    readonly peer: string;
    readonly vodozemac: Vodozemac;
    readonly left?: number;
    /** The verifications that have begun since: steps of one before may still be on their way. */
    readonly begun?: Set<string>;
    /** Whether those are the ones of which a step was changed. */
    readonly isFound?: boolean;
  },
): void {
  const { device } = betrayal;
  const [threat, step, change] = chosen(CHANGES, what) ?? [];
  if (threat === undefined || step === undefined || change === undefined || left === 0) return;
  world.network.tamper(device, "/sync", (body) => {
    if (betrayal.isOver && !isFound) return;
    const events: Json[] = body.to_device?.events ?? [];
    for (const { type, content } of events) {
      if (isFound || !BEGINNINGS.has(type) || content.from_device !== peer) continue;
      begun.add(content.transaction_id);
    }
    const found = events.filter(({ type, content }) =>
      type === `${VERIFICATION}${step}` && begun.has(content.transaction_id)
    );
    if (found.length === 0) {
      return sitBetween(world, betrayal, { what, vodozemac, peer, left: left - 1, begun, isFound });
    }
    // The answer may get lost, and what was changed come again.
    const changed = new Set(found.map(({ content }) => content.transaction_id));
    sitBetween(world, betrayal, { what, vodozemac, peer, begun: changed, isFound: true });
    world.reach(`threat: ${threat}`);
    world.note(`${threat}: the server changes "${step}" on its way to ${device.name}`);
    betrayal.isDone = true;
    for (const event of found) change(event, { vodozemac, other: world.stranger.userId });
  });
}

/** What the server shows of a user's backup. */
interface ShownBackup {
  readonly version?: string;
  readonly auth_data?: { readonly public_key?: string };
}

/** Puts a session into a backup that nobody has sent, in the name of a device; returns its ciphertext. */
async function plant(world: World, { reader, author, room, body }: {
  readonly reader: Device;
  readonly author: Device;
  readonly room: RoomID;
  readonly body: string;
}): Promise<Record<string, unknown> | undefined> {
  const token = await reader.account.token();
  const { version, auth_data } = await world.ask(token, "GET", "v3/room_keys/version") as ShownBackup;
  const { device_keys } = await world.ask(token, "POST", "v3/keys/query", {
    device_keys: { [author.userId]: [] },
  }) as { device_keys?: Record<string, Record<string, { keys: Record<string, string> }>> };
  const { keys = {} } = device_keys?.[author.userId]?.[author.deviceId] ?? {};
  const [curve25519, ed25519] = [keys[`curve25519:${author.deviceId}`], keys[`ed25519:${author.deviceId}`]];
  const publicKey = auth_data?.public_key;
  if (version === undefined || publicKey === undefined || curve25519 === undefined) return undefined;
  const { megolm, pk } = await Vodozemac.load();
  using session = megolm.createOutbound();
  using copy = megolm.createInbound(session.sessionKey());
  const said = {
    algorithm: "m.megolm.v1.aes-sha2",
    sender_key: curve25519,
    sender_claimed_keys: { ed25519 },
    forwarding_curve25519_key_chain: [],
    session_key: copy.exportAt(0),
  };
  const session_id = session.sessionId;
  const path = `v3/room_keys/keys/${encodeURIComponent(room)}/${encodeURIComponent(session_id)}`;
  await world.ask(token, "PUT", `${path}?version=${version}`, {
    first_message_index: 0,
    forwarded_count: 0,
    is_verified: true,
    session_data: { ...pk.encrypt(publicKey, JSON.stringify(said)) },
  });
  world.backedUp.push({ at: world.timeline.now, sessions: [`${room} ${session_id}`] });
  const event = { type: "m.room.message", content: { msgtype: "m.text", body }, room_id: room };
  return {
    algorithm: "m.megolm.v1.aes-sha2",
    sender_key: curve25519,
    device_id: author.deviceId,
    session_id,
    ciphertext: session.encrypt(JSON.stringify(event)),
  };
}

/** The kinds. */
export const forgers: readonly ActionKind[] = [
  {
    name: "sits between two who verify each other",
    weight: 3,
    async perform({ world, device, action: { where, what } }) {
      const free = world.devices.filter((each) => each.isRunning && !isVerifying(each));
      const other = chosen(free.filter((each) => each !== device), where);
      if (other === undefined || !free.includes(device)) return;
      const [betrayed, peer] = what % 2 === 0 ? [device, other] : [other, device];
      const betrayal: Betrayal = { device: betrayed, isDone: false, isOver: false };
      const vodozemac = await Vodozemac.load();
      sitBetween(world, betrayal, { what: what >> 1, vodozemac, peer: peer.deviceId });
      world.note(`${device.name} asks ${other.name} for a verification, with the server in between`);
      verify(world, device, other, betrayal).then(
        () => world.note(`${device.name} and ${other.name} have verified each other`),
        (error) => world.note(`${device.name} and ${other.name} have not verified each other: ${error}`),
      );
    },
  },
  {
    name: "writes into a backup",
    weight: 4,
    isOfTrust: true,
    async perform({ world, device: reader, room, action: { what } }) {
      const { account } = reader;
      const authors = world.devices.filter(({ goneAt, publishedAt }) =>
        goneAt === Infinity && publishedAt < Infinity
      );
      const author = chosen(authors, what);
      if (author === undefined || account.recoveryKey === undefined || room.encryptedAt === Infinity) return;
      if (account.planted !== undefined) return; // nobody reads that backup
      const body = `planted ${world.planted.size}`;
      const content = await plant(world, { reader, author, room: room.id, body });
      if (content === undefined) return;
      const path = `v3/rooms/${encodeURIComponent(room.id)}/send/m.room.encrypted/${body.replace(" ", "-")}`;
      const { event_id } = await world.ask(await author.account.token(), "PUT", path, content);
      if (typeof event_id !== "string") return;
      world.planted.add(event_id);
      world.reach("threat: T52");
      world.note(`T52: a key is written into the backup of ${account.userId}, and ${event_id} made with it`);
    },
  },
];
