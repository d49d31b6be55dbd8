/**
 * matrix-js-sdk as a puppet: it reads commands in lines of JSON from standard input, and reports on
 * standard output what it sees; `puppet.py` says how.
 *
 * Its cryptography, in Rust, keeps its store in memory: what it knows ends with `stop`.
 *
 * @module
 */

import {
  Attachment,
  DeviceId,
  EncryptedAttachment,
  LocalTrust,
  UserId,
} from "@matrix-org/matrix-sdk-crypto-wasm";
import type { Device, OlmMachine } from "@matrix-org/matrix-sdk-crypto-wasm";
import type { MatrixClient, MatrixEvent } from "matrix-js-sdk";
import { delay } from "@std/async/delay";
import { linesOf } from "../support/peer/peer_lines.ts";

// Stdout is the protocol's.
for (const level of ["debug", "info", "log", "trace"] as const) console[level] = console.error;
const { Trust } = await import("./js_trust.ts");
const { ClientEvent, createClient, MatrixEventEvent, RoomEvent, RoomStateEvent, SyncState } = await import(
  "matrix-js-sdk"
);

type Json = Record<string, unknown>;
type Crypto = NonNullable<ReturnType<MatrixClient["getCrypto"]>>;

/** What the shield beside a message stands for, by the library's number. */
const SHIELDS = [
  "unknown",
  "unverified_identity",
  "unsigned_device",
  "unknown_device",
  "authenticity_not_guaranteed",
  "mismatched_sender_key",
  "sent_in_clear",
  "verification_violation",
  "mismatched_sender",
];
const POLL_MS = 20;
const SYNC_TIMEOUT_MS = 10_000;
const encoder = new TextEncoder();

let session: { homeserver: string; userId: string; deviceId: string; accessToken: string } | undefined;
let running: MatrixClient | undefined;
/** The events that could not be decrypted when they came. */
const undecryptable = new Set<string>();

function tell(line: Json): void {
  const bytes = encoder.encode(`${JSON.stringify(line)}\n`);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

const trust = new Trust(tell);

function client(): MatrixClient {
  if (running === undefined) throw new Error("the client does not run; start it");
  return running;
}

function cryptoOf(of: MatrixClient): Crypto {
  const api = of.getCrypto();
  if (api === undefined) throw new Error("the client has no cryptography");
  return api;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!await condition()) await delay(POLL_MS);
}

async function report(event: MatrixEvent, { late }: { late: boolean }): Promise<void> {
  const eventId = event.getId() ?? "";
  const sender = event.getSender();
  const common = {
    roomId: event.getRoomId(),
    eventId,
    sender,
    sessionId: event.getWireContent().session_id ?? null,
  };
  if (event.isDecryptionFailure()) {
    if (!late) {
      undecryptable.add(eventId);
      const code = event.decryptionFailureReason ?? "";
      const reason = `${code} ${event.getContent().body ?? ""}`;
      tell({ event: "undecryptable", ...common, reason, withheld: /WITHHELD/.test(code) ? code : null });
    }
    return;
  }
  if (late && !undecryptable.delete(eventId)) return;
  const content = event.getContent();
  const encrypted = event.isEncrypted();
  const shield = encrypted ? await cryptoOf(client()).getEncryptionInfoForEvent(event) : null;
  const level = typeof shield?.shieldReason === "number" ? SHIELDS[shield.shieldReason] : "verified";
  const { msgtype = null, body = null } = content;
  const type = event.getType();
  tell({
    event: "message",
    ...common,
    type,
    content,
    msgtype,
    body,
    encrypted,
    trust: encrypted ? level : null,
    late,
  });
}

/** Tells of what comes; what this device sent itself it knows already. */
function watch(watched: MatrixClient): void {
  watched.on(RoomEvent.Timeline, async (event, _room, toStart) => {
    if (toStart || event.status !== null || event.getUnsigned().transaction_id !== undefined) return;
    if (event.isState()) {
      if (event.getType() === "m.room.member") return;
      const [type, stateKey] = [event.getType(), event.getStateKey()];
      return tell({ event: "state", roomId: event.getRoomId(), type, stateKey, content: event.getContent() });
    }
    await watched.decryptEventIfNeeded(event);
    await report(event, { late: false });
  });
  watched.on(MatrixEventEvent.Decrypted, (event) => report(event, { late: true }));
  watched.on(RoomStateEvent.Members, (event, _state, { membership, userId }) => {
    tell({ event: "member", roomId: event.getRoomId(), userId, membership, sender: event.getSender() });
  });
  watched.on(RoomEvent.MyMembership, (room, membership) => {
    if (membership !== "invite") return;
    const sender = room.getMember(watched.getSafeUserId())?.events.member?.getSender();
    tell({ event: "invite", roomId: room.roomId, sender });
  });
  watched.on(ClientEvent.ReceivedToDeviceMessage, ({ message, encryptionInfo }) => {
    const { type, sender, content } = message;
    tell({ event: "to_device", type, sender, content, encrypted: encryptionInfo !== null });
  });
}

async function start(): Promise<void> {
  if (session === undefined) throw new Error("there is no session; log in");
  const { homeserver: baseUrl, ...rest } = session;
  const started = createClient({ baseUrl, ...rest, cryptoCallbacks: trust.callbacks });
  await started.initRustCrypto({ useIndexedDB: false });
  watch(started);
  trust.watch(started);
  running = started;
  const prepared = Promise.withResolvers<void>();
  started.on(ClientEvent.Sync, (state) => state === SyncState.Prepared && prepared.resolve());
  await started.startClient({ pollTimeout: SYNC_TIMEOUT_MS });
  await prepared.promise;
  await until(async () => {
    const { device_keys } = await started.downloadKeysForUsers([rest.userId]);
    return device_keys[rest.userId]?.[rest.deviceId] !== undefined;
  });
}

/** The machine behind the library, for what the library has no verb for. */
async function deviceOf(userId: string, deviceId: string): Promise<Device> {
  // Private in its types only.
  const { olmMachine } = cryptoOf(client()) as unknown as { olmMachine: OlmMachine };
  for (;;) {
    const device = await olmMachine.getDevice(new UserId(userId), new DeviceId(deviceId));
    if (device !== undefined) return device;
    await delay(POLL_MS);
  }
}

async function awaitDevice(userId: string, deviceId: string): Promise<void> {
  // For one whom no encrypted room has made the library follow; for others it does not ask.
  const askServer = true;
  await until(async () => {
    const devices = await cryptoOf(client()).getUserDeviceInfo([userId], askServer);
    return devices.get(userId)?.has(deviceId) === true;
  });
}

async function awaitRoom(roomId: string, { encrypted }: { encrypted: boolean }): Promise<void> {
  await until(() => {
    const room = client().getRoom(roomId);
    return room?.getMyMembership() === "join" && (!encrypted || room.hasEncryptionStateEvent());
  });
}

function stop(): void {
  running?.stopClient();
  running = undefined;
}

const TRUST: Record<string, LocalTrust> = {
  verified: LocalTrust.Verified,
  blacklisted: LocalTrust.BlackListed,
  unset: LocalTrust.Unset,
};

// deno-lint-ignore no-explicit-any -- arguments as the other side's types say, which the protocol can't carry
const verbs: Record<string, (args: any) => unknown> = {
  ...trust.verbs,
  login({ store: _store, ...given }) {
    session = given;
  },
  start,
  stop,
  quit: stop,
  awaitRoom: ({ roomId, encrypted }) => awaitRoom(roomId, { encrypted }),
  async sendRaw({ roomId, type, content }) {
    await awaitRoom(roomId, { encrypted: true });
    return (await client().sendEvent(roomId, type, content)).event_id;
  },
  async upload({ bytes }) {
    const attachment = Attachment.encrypt(Uint8Array.fromBase64(bytes));
    const data = new Blob([new Uint8Array(attachment.encryptedData)]);
    const { content_uri: url } = await client().uploadContent(data, { type: "application/octet-stream" });
    return { ...JSON.parse(attachment.mediaEncryptionInfo ?? ""), url };
  },
  async download({ file }) {
    const [direct, redirects, authenticated] = [false, true, true];
    const [width, height, method] = [undefined, undefined, undefined];
    const url = client().mxcUrlToHttp(file.url, width, height, method, direct, redirects, authenticated) ??
      "";
    const headers = { authorization: `Bearer ${client().getAccessToken()}` };
    const response = await fetch(url, { headers });
    if (!response.ok) throw new Error(`the server said ${response.status}`);
    const bytes = Attachment.decrypt(new EncryptedAttachment(await response.bytes(), JSON.stringify(file)));
    const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(bytes));
    return { bytes: bytes.toBase64(), sha256: new Uint8Array(digest).toHex() };
  },
  deviceKeys: () => cryptoOf(client()).getOwnDeviceKeys(),
  async devices({ userId }) {
    const devices = (await cryptoOf(client()).getUserDeviceInfo([userId])).get(userId)?.values() ?? [];
    return [...devices].map((device) => ({
      deviceId: device.deviceId,
      ed25519: device.getFingerprint(),
      curve25519: device.getIdentityKey(),
      trust: { [-1]: "blacklisted", 0: "unset", 1: "verified" }[device.verified],
    }));
  },
  awaitDevice: ({ userId, deviceId }) => awaitDevice(userId, deviceId),
  async setDeviceTrust({ userId, deviceId, trust }) {
    const level = TRUST[trust];
    if (level === undefined) throw new Error(`there is no trust ${trust}`);
    await (await deviceOf(userId, deviceId)).setLocalTrust(level);
  },
  /** Invites by the library, which shares the history with whom it invites. */
  async inviteWithHistory({ roomId, userId }) {
    await client().invite(roomId, userId);
  },
  /** Joins by the library, which takes the history that the inviter shares. */
  async joinWithHistory({ roomId }) {
    await client().joinRoom(roomId);
  },
  rotate: ({ roomId }) => cryptoOf(client()).forceDiscardSession(roomId),
  /** Any method of the client or of its `CryptoApi`; what comes back must be JSON. */
  call({ on, method, args }) {
    // deno-lint-ignore no-explicit-any -- any method at all
    const target: any = on === "crypto" ? cryptoOf(client()) : client();
    return target[method](...args);
  },
};

async function serve({ id, do: verb, ...args }: Json): Promise<void> {
  try {
    const run = verbs[String(verb)];
    if (run === undefined) throw new Error(`Cannot ${verb}: this peer has no such verb`);
    tell({ id, ok: await run(args) ?? null });
  } catch (error) {
    console.error(error);
    tell({ id, error: String(error) });
  }
  if (verb === "quit") Deno.exit();
}

if (import.meta.main) {
  for await (const line of linesOf(Deno.stdin.readable)) void serve(JSON.parse(line));
  Deno.exit();
}
