/**
 * History that members share with whom they invite.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";
import type { Account } from "./account.ts";
import type { Device } from "./device.ts";

/** What a device was to share, with one call of its client. */
export interface SharedHistory {
  readonly sharer: Device;
  readonly room: RoomID;
  readonly guest: Account;
  /** When it was called. */
  readonly at: number;
  /** The rooms and IDs of the sessions that the device had then. */
  readonly had: ReadonlySet<string>;
  /** The events that it had read by then: of a session it may know a later part. */
  readonly read: ReadonlySet<string>;
  /** The sessions that it had when it uploaded a file: nothing else can be in that. */
  readonly given: Set<string>;
  /** The devices that have ignored what was announced, since the sharer's device was gone by then. */
  readonly ignoredBy: Set<Device>;
  /** When the call had ended, or its process; infinity: it has not. */
  endedAt: number;
  /**
   * What became of it; ended: the client had, by itself; undefined: its process ended before that was known.
   */
  outcome: "shared" | "failed" | "ended" | undefined;
}

/** Where it is noted. */
interface Place {
  readonly shares: readonly SharedHistory[];
  readonly timeline: { readonly now: number };
  readonly reach: (what: string) => void;
}

/** How a client says that it has not fetched what a device has announced. */
const NOT_VOUCHED = "Ignored shared history: its sender's identity does not vouch";

/** Devices whose next files the server spoils; what they were to take from them may be lost. */
export const spoiled = new WeakMap<Device, number>();

/** Notes what a client says of history. */
export function noteHistory(
  { shares, reach, timeline }: Place,
  device: Device,
  { line, about }: { readonly line: string; readonly about: Readonly<Record<string, unknown>> },
): void {
  reach(`history: ${line}`);
  if (line.startsWith(NOT_VOUCHED)) {
    for (const { sharer, guest, room, ignoredBy } of shares) {
      const isOfShare = guest.devices.includes(device) && room === about.roomId &&
        sharer.deviceId === about.deviceId;
      if (isOfShare && sharer.goneAt <= timeline.now) ignoredBy.add(device);
    }
  }
  const hasEnded = /\b(?:Actor(?:Stopped)?Error|StoreError|ClientEndedError)\b/.test(String(about.error));
  const outcome = line.startsWith("Shared the history")
    ? "shared"
    : hasEnded
    ? "ended"
    : line.startsWith("Could not share the history")
    ? "failed"
    : undefined;
  const share = shares.findLast(({ sharer, room, guest }) =>
    sharer === device && room === about.roomId && guest.userId === about.userId
  );
  if (outcome !== undefined && share !== undefined) share.outcome = outcome;
}

/** Notes that the server has a file of a device. */
export async function noteFile({ shares }: Pick<Place, "shares">, device: Device): Promise<void> {
  const sessions = await device.disk.sessions();
  for (const { sharer, room, given } of shares) {
    if (sharer !== device) continue;
    for (const session of sessions) if (session.startsWith(`${room} `)) given.add(session);
  }
}
