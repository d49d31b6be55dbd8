/**
 * Who was invited reads what the inviter could read, and each sender had allowed to be shared; nobody else
 * does.
 *
 * @module
 */

import type { MessageEvent, RoomID, UserID } from "@greenroom/matrix/types";
import { SERVERS_COPY } from "../actions/hostile.ts";
import type { Account } from "../world/account.ts";
import type { Device } from "../world/device.ts";
import { type SharedHistory, spoiled } from "../world/history.ts";
import type { World } from "../world/world.ts";
import { Memberships } from "./memberships.ts";
import { soon } from "./soon.ts";

/** How long a failure may keep a device from what was shared, in milliseconds. */
const PATIENCE = 2 * 3_600_000;
/** How many events of what was shared are tried on a device, at most. */
const MOST_READ = 12;
/** How many failures of requests in a row make a client give up what it was to share. */
const TRIES = 5;

/** When the history of a room was to be read by those who come later. */
export class Visibility {
  readonly #changes: { readonly at: number; readonly isShared: boolean }[];

  constructor({ homeserver }: Pick<World, "homeserver">, room: RoomID) {
    this.#changes = homeserver.room(room).events.filter(({ type }) => type === "m.room.history_visibility")
      .map(({ origin_server_ts: at, content }) => ({
        at,
        isShared: ["shared", "world_readable"].includes(String(content.history_visibility)),
      }));
  }

  /** Whether it was all the time between two moments; or never was. */
  all(from: number, to: number): "shared" | "hidden" | "both" {
    const first = (this.#changes.findLast(({ at }) => at <= from) ?? this.#changes[0])?.isShared ?? false;
    const changes = this.#changes.filter(({ at }) => at > from && at <= to);
    if (changes.some(({ isShared }) => isShared !== first)) return "both";
    return first ? "shared" : "hidden";
  }
}

/** When a user accepted an invitation of another, after some moment; undefined: never. */
function acceptedAt(
  { homeserver }: World,
  { room, guest, sharer, since }: {
    readonly room: RoomID;
    readonly guest: UserID;
    readonly sharer: UserID;
    readonly since: number;
  },
): number | undefined {
  const changes = homeserver.room(room).events.filter(({ type, state_key }) =>
    type === "m.room.member" && state_key === guest
  );
  return changes.find(({ origin_server_ts: at, content }, index) => {
    const before = changes[index - 1];
    return at >= since && content.membership === "join" && before?.content.membership === "invite" &&
      before.sender === sharer && before.origin_server_ts >= since;
  })?.origin_server_ts;
}

/** Whether a user may have the key of a message by an invitation whose history was shared. */
export function mayBeShared(
  world: World,
  { room, guest, sessionId, known, at }: {
    readonly room: RoomID;
    readonly guest: Account;
    readonly sessionId: unknown;
    /** Up to when its author knew the server's state, and when the server had it. */
    readonly known: number;
    readonly at: number;
  },
): boolean {
  if (world.shares.length === 0 || new Visibility(world, room).all(known, at) === "hidden") return false;
  return world.shares.some((share) => {
    if (share.room !== room || share.guest !== guest || !share.given.has(`${room} ${sessionId}`)) {
      return false;
    }
    if (world.setback !== undefined) return true; // the invitation may be forgotten
    const people = { room, guest: guest.userId, sharer: share.sharer.userId };
    return acceptedAt(world, { ...people, since: -Infinity }) !== undefined;
  });
}

/** Judges all that was to be shared. */
export async function judgeHistory(world: World): Promise<void> {
  for (const { sharer, guest, endedAt } of world.shares) {
    if (endedAt === Infinity) world.violate(`${sharer.name} never ends sharing history with ${guest.userId}`);
  }
  if (world.setback !== undefined) return; // it may have forgotten the file, its message, or the invitation
  for (const share of world.shares) {
    const { room, guest: { userId, devices, isMisshown }, sharer } = share;
    const joinedAt = acceptedAt(world, { room, guest: userId, sharer: sharer.userId, since: share.at });
    const memberships = new Memberships(world.homeserver, room);
    const { now } = world.timeline;
    if (joinedAt === undefined || !memberships.joined(userId, joinedAt, now)) continue;
    if (isMisshown || sharer.account.isMisshown || isExcused(world, share, sharer)) continue;
    if (new Visibility(world, room).all(share.at, share.endedAt) !== "shared") continue;
    const wasMember = memberships.joined(sharer.userId, share.at, share.at);
    if (!wasMember || sharer.signedAt > share.at) continue;
    for (const device of devices) {
      const isTold = !device.isStrict && device.signedAt <= share.at && device.goneAt === Infinity &&
        device.isRunning;
      if (isTold && !share.ignoredBy.has(device) && !isExcused(world, share, device)) {
        await judgeGuest(world, share, device);
      }
    }
  }
}

/** Whether one of the two may have failed at it, by the documented limits. */
function isExcused(
  { dayOffAt, timeline }: World,
  { at, outcome, sharer }: SharedHistory,
  device: Device,
): boolean {
  // Who was called and ended before that was known calls again.
  if ((outcome === undefined || outcome === "ended") && device === sharer) return true;
  const since = device.troubles.filter((trouble) => trouble.at >= at);
  const gaveUp = since.some(({ kind }) => kind === "final") || since.length >= TRIES;
  if (device === sharer && gaveUp) return true;
  // An invitation counts for a day by the device's clock.
  const isLate = device.wrongAt >= at || Math.abs(device.skew) > timeline.now || dayOffAt >= at;
  return device.isHidden || device.loss.needsHealing || isLate || (spoiled.get(device) ?? -Infinity) >= at;
}

/** Whether the server has shown a device a message as another event first, so that it is no repetition. */
function hasReadAsAnother({ readings }: Device, body: string | undefined): boolean {
  return readings.entries().some(([id, text]) => id.startsWith(SERVERS_COPY) && text === body);
}

/**
 * Whether a device has never known another, which is gone: if it hears only those that their users vouch for,
 * it does not read what is said to be of that one.
 */
function isOfUnknown({ metAt }: Device, { deviceId, goneAt }: Device): boolean {
  return goneAt < Infinity && !metAt.has(deviceId);
}

async function judgeGuest(world: World, share: SharedHistory, device: Device): Promise<void> {
  const { sharer, room, had, read, at: sharedAt } = share;
  const visibility = new Visibility(world, room);
  const events = world.homeserver.room(room).messages.filter((message) => {
    const { event_id: id, type, sender, content, origin_server_ts: at } = message;
    if (type !== "m.room.encrypted" || at > sharedAt || !had.has(`${room} ${content.session_id}`)) {
      return false;
    }
    if (world.forged.has(id) || world.planted.has(id) || world.hearsay.has(id) || world.copied.has(id)) {
      return false;
    }
    if (device.spoiled.has(id) || !read.has(id)) return false;
    if (hasReadAsAnother(device, sharer.readings.get(id))) return false;
    const author = world.devices.find((each) =>
      each.userId === sender && each.deviceId === content.device_id
    );
    if (world.isVouched && (author?.isHidden || author && isOfUnknown(device, author))) return false;
    const known = author?.knownAt.get(author.readings.get(id) ?? "");
    return known !== undefined && visibility.all(known, at) === "shared";
  });
  const step = Math.ceil(events.length / MOST_READ);
  for (const event of events.filter((_, index) => index % step === 0)) {
    const shown = { ...event, room_id: room } as unknown as MessageEvent;
    const end = world.timeline.now + PATIENCE;
    let body: unknown;
    for (let isOver = false; !isOver; isOver = body !== undefined || world.timeline.now >= end) {
      const decryption = await soon(world, device.client?.crypto?.decrypt(shown));
      if (decryption !== undefined && "event" in decryption) body = decryption.event.content.body;
      else await world.timeline.pass(600_000);
    }
    world.reach("history: read by who was invited");
    if (body !== sharer.readings.get(event.event_id)) {
      world.violate(
        `${device.name} was invited by ${sharer.name}, and reads ${event.event_id} as ${body}, not "${
          sharer.readings.get(event.event_id)
        }"`,
      );
      return;
    }
  }
}
