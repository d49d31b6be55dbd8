/**
 * What devices know, by what they commit, and what their processes must know.
 *
 * @module
 */

import type { StoreMutation } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import type { Setback } from "../setback/setback.ts";
import type { WorldHomeserver } from "../setback/restorable_homeserver.ts";
import type { Account } from "./account.ts";
import type { Device } from "./device.ts";
import type { Network } from "./network.ts";
import { Memberships } from "../judge/memberships.ts";
import type { Saying } from "./saying.ts";
import type { Timeline } from "../core/timeline.ts";
import type { Sender } from "./wire.ts";

/** What there is to be known. */
interface Facts {
  readonly accounts: readonly Account[];
  readonly network: Pick<Network, "tokens" | "firsts" | "shown">;
  readonly timeline: Pick<Timeline, "now">;
  /** That the homeserver was set back, if it was. */
  readonly setback: Setback | undefined;
}

/** What was said somewhere. */
interface Said {
  readonly saying: Saying;
  /** Whether its author knew that the room is encrypted. */
  readonly isSecret: boolean;
}

/** What a device commits. */
interface Commit {
  readonly device: Device;
  readonly mutations: readonly StoreMutation[];
}

/** Notes what a device knows from a commit on. */
export function learn(facts: Facts, { device, mutations }: Commit): void {
  for (const mutation of mutations) {
    if (mutation.type !== "set") continue;
    const { key, value } = mutation;
    if (key.length === 3 && key[2] === "sync") learnPosition(facts, device, value);
    if (key[2] === "settled") device.kit?.settled.getOrInsert(String(key[3]), facts.timeline.now);
    if (key[3] === "outbound_session") learnSession(device, String(key.at(-1)) as RoomID, value);
    if (key[3] === "devices") learnDevices(facts, device, { userId: key.at(-1), value });
  }
}

/** Whether a process must know that what was said, or an answer to that, is not to be sent in clear. */
export function mustKnowEncrypted(
  { homeserver, rooms, timeline }: {
    readonly homeserver: WorldHomeserver;
    readonly rooms: readonly { readonly id: RoomID; readonly encryptedAt: number }[];
    readonly timeline: Pick<Timeline, "now">;
  },
  said: Said | undefined,
  { device, process }: Sender,
): boolean {
  if (said === undefined || said.isSecret) return said !== undefined;
  // Who begins after the room was encrypted learns of that, or asks the server.
  const { room } = said.saying;
  const since = rooms.find(({ id }) => id === room)?.encryptedAt ?? Infinity;
  return since < process.begunAt &&
    new Memberships(homeserver, room).joined(device.userId, since, timeline.now);
}

function learnSession(device: Device, room: RoomID, value: unknown): void {
  const { sessionId } = value as { readonly sessionId: string };
  device.sessions.set(room, sessionId);
}

/** The token that the server told: those of sliding sync have it in them. */
function toldBy(token: string | undefined): string | undefined {
  const [name, pos = ""] = token?.split(":") ?? [];
  return name === "sliding" ? decodeURIComponent(pos) : token;
}

function learnPosition({ network, timeline, setback }: Facts, device: Device, value: unknown): void {
  const record = value as { readonly nextBatch?: string; readonly handled?: string };
  const nextBatch = toldBy(record.nextBatch);
  const handled = toldBy(record.handled) ?? "";
  if (nextBatch === undefined) return; // encryption is ahead of the first response, which comes again
  device.hasTaken = true;
  if (device.firstAt === Infinity) {
    device.firstAt = timeline.now;
    device.firstShown = network.firsts.get(nextBatch) ?? device.firstShown;
  }
  const seen = network.tokens.get(nextBatch) ?? 0;
  if (seen > device.seen) device.loss.told(timeline.now);
  device.seen = Math.max(device.seen, seen);
  const settled = network.tokens.get(handled) ?? 0;
  device.settled = Math.max(device.settled, settled);
  // A restart begins there; others may have been given the token that the device had before.
  const isTold = network.shown.get(device)?.has(handled) === true;
  if (setback !== undefined && isTold && settled > setback.at) setback.caughtUp(device, settled);
}

function learnDevices(
  { accounts, timeline }: Facts,
  device: Device,
  { userId, value }: { readonly userId: unknown; readonly value: unknown },
): void {
  const { devices = [] } = value as { readonly devices?: readonly { readonly deviceId: string }[] };
  const there = new Set(devices.map(({ deviceId }) => deviceId));
  for (const deviceId of there) device.metAt.getOrInsert(deviceId, timeline.now);
  for (const other of accounts.find((account) => account.userId === userId)?.devices ?? []) {
    const isGone = other.goneAt <= timeline.now && !there.has(other.deviceId);
    if (isGone) device.goneBy.getOrInsert(other.deviceId, timeline.now);
  }
}
