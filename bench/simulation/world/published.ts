/**
 * What users have published: the keys of devices, identities, and signatures.
 *
 * @module
 */

import type { Timeline } from "../core/timeline.ts";
import type { KeyPost, Setback } from "../setback/setback.ts";
import type { Account } from "./account.ts";
import type { Device } from "./device.ts";
import { noteFile, type SharedHistory } from "./history.ts";

/** Where it is noted. */
interface Place {
  readonly accounts: readonly Account[];
  readonly timeline: Pick<Timeline, "now">;
  readonly note: (line: string) => void;
  readonly reach: (what: string) => void;
  /** What was sent to devices encrypted. */
  readonly posts: KeyPost[];
  /** What was put into backups: when, and the rooms and IDs of the sessions. */
  readonly backedUp: { readonly at: number; readonly sessions: readonly string[] }[];
  /** What members were to share with whom they invite. */
  readonly shares: readonly SharedHistory[];
  /** That the homeserver was set back, if it was. */
  readonly setback: Setback | undefined;
  violate(what: string): void;
}

/** Signatures, by user and by the name of a key. */
type Signatures = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A request that the server has accepted. */
interface Exchange {
  readonly body: string;
  readonly answer: string;
}

/** How many one-time keys the server may have of a device: fifty, and those after each lie about that. */
const MOST_KEYS = 400;

/** Notes what the server has accepted of a device. */
export function notePublished(place: Place, device: Device, pathname: string, exchange: Exchange): void {
  if (pathname.endsWith("/dehydrated_device")) noteDehydrated(place, device, exchange);
  if (pathname.endsWith("/keys/upload")) noteKeys(place, device, exchange);
  if (pathname.endsWith("/keys/device_signing/upload")) noteIdentity(place, device, exchange);
  if (pathname.endsWith("/keys/signatures/upload")) noteSignatures(place, device, exchange);
  if (pathname.endsWith("/media/v3/upload")) noteFile(place, device);
  if (pathname.endsWith("/room_keys/keys")) noteBackup(place, exchange);
  if (pathname.includes("/account_data/")) device.account.secrets.note(device, pathname, exchange);
  if (pathname.includes("/sendToDevice/m.room.encrypted/")) notePosts(place, device, exchange);
}

function noteBackup({ backedUp, timeline }: Place, { body }: Exchange): void {
  const { rooms = {} }: { rooms?: Readonly<Record<string, { sessions: Record<string, unknown> }>> } = JSON
    .parse(body);
  const sessions = Object.entries(rooms).flatMap(([room, { sessions }]) =>
    Object.keys(sessions).map((session) => `${room} ${session}`)
  );
  backedUp.push({ at: timeline.now, sessions });
}

/** Who was sent something encrypted gets the keys of what the sender encrypts with, as far as can be told. */
function notePosts(
  { posts, timeline, setback, accounts }: Place,
  { sessions, userId: sender, deviceId: by }: Device,
  { body }: Exchange,
): void {
  const { messages }: { messages: Readonly<Record<string, Readonly<Record<string, unknown>>>> } = JSON.parse(
    body,
  );
  const used = [...sessions].map(([room, session]) => `${room} ${session}`);
  for (const [userId, devices] of Object.entries(messages)) {
    for (const deviceId of Object.keys(devices)) {
      const post = { at: timeline.now, from: `${sender} ${by}`, to: `${userId} ${deviceId}`, sessions: used };
      posts.push(post);
      setback?.posted(post);
      const reader = accounts.flatMap((account) => account.devices).find((device) =>
        device.userId === userId && device.deviceId === deviceId
      );
      if (reader?.fork?.isLive === true) reader.loss.lose(used); // one of the two gets it
    }
  }
}

/** A request without a body asks for it. */
function noteDehydrated({ timeline, reach }: Place, { account }: Device, { body }: Exchange): void {
  const { device_id: deviceId }: { device_id?: string } = JSON.parse(body);
  if (deviceId === undefined || account.dehydrated?.deviceId === deviceId) return;
  reach(`trust: a dehydrated device was ${account.dehydrated === undefined ? "made" : "replaced"}`);
  account.dehydrated = { deviceId, at: timeline.now };
}

function noteKeys(place: Place, device: Device, { body, answer }: Exchange): void {
  const { timeline, setback } = place;
  const { one_time_key_counts: counts = {} }: { one_time_key_counts?: Record<string, number> } = JSON.parse(
    answer,
  );
  const left = counts.signed_curve25519 ?? 0;
  if (left > MOST_KEYS) place.violate(`${device.name} has ${left} one-time keys on the server`);
  const { device_keys: keys }: { device_keys?: { signatures: Signatures } } = JSON.parse(body);
  if (keys === undefined) return;
  device.publishedAt = Math.min(device.publishedAt, timeline.now);
  if (device.signedAt === Infinity) setback?.published(device, timeline.now);
  const signers = Object.keys(keys.signatures[device.userId] ?? {});
  if (signers.some((name) => name !== `ed25519:${device.deviceId}`)) {
    device.signedAt = Math.min(device.signedAt, timeline.now);
    setback?.published(device, timeline.now);
  }
}

/** An identity stays until its user replaces it. */
function noteIdentity(place: Place, device: Device, { body }: Exchange): void {
  const { name, account } = device;
  const { master_key: key }: { master_key?: { keys: Record<string, string> } } = JSON.parse(body);
  const [master] = Object.values(key?.keys ?? {});
  if (master === undefined || master === account.master) return;
  if (account.master !== undefined && !account.isResetting) {
    place.violate(`${name} has replaced the identity of ${account.userId}, which nobody wanted`);
  }
  place.note(`${account.userId} has the identity ${master}`);
  place.reach(
    account.master === undefined ? "trust: an identity was made" : "trust: an identity was replaced",
  );
  account.master = master;
  account.madeBy = device;
}

function noteSignatures(
  { accounts, timeline, reach, setback }: Place,
  by: Device,
  { body, answer }: Exchange,
): void {
  const signed: Readonly<Record<string, Readonly<Record<string, unknown>>>> = JSON.parse(body);
  const { failures = {} }: { failures?: Record<string, Record<string, unknown>> } = JSON.parse(answer);
  for (const { userId, devices } of accounts) {
    for (const device of devices) {
      if (userId !== by.userId || signed[userId]?.[device.deviceId] === undefined) continue;
      if (failures[userId]?.[device.deviceId] !== undefined) continue;
      reach(device === by ? "trust: a device has signed itself" : "trust: a device was signed by another");
      device.signedAt = Math.min(device.signedAt, timeline.now);
      setback?.published(device, timeline.now);
    }
  }
}
