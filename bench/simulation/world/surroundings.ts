/**
 * What devices find around them.
 *
 * @module
 */

import type { EncryptionOptions, Logger, StoreMutation, SyncOnceOptions } from "@greenroom/matrix";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import type { Chance } from "../core/chance.ts";
import type { Timeline } from "../core/timeline.ts";
import type { WorldHomeserver } from "../setback/restorable_homeserver.ts";
import type { Ambushes } from "./ambushes.ts";
import type { Device } from "./device.ts";
import type { SharedHistory } from "./history.ts";
import type { Network, Weather } from "./network.ts";
import type { WorldPlan } from "./plan.ts";
import type { Process } from "./process.ts";
import type { Saying } from "./saying.ts";
import type { Wire } from "./wire.ts";

/** The world, as a device sees it. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly homeserver: WorldHomeserver;
  readonly network: Network;
  readonly wire: Wire;
  /** What lies in wait for what devices seldom do. */
  readonly ambushes: Ambushes<Weather["kind"]>;
  /** What clients ask for. */
  readonly sync: SyncOnceOptions;
  /** Whether clients send to devices that their users vouch for, and to no others. */
  readonly isVouched: boolean;
  /** Whether users with a recovery key have dehydrated devices. */
  readonly dehydrates: boolean;
  /** By which sync clients read: default, by the classic one. */
  readonly slides: WorldPlan["slides"];
  /** Whether clients share the history of rooms with who is invited. */
  readonly sharesHistory: boolean;
  /** How clients encrypt. */
  readonly encryption: EncryptionOptions;
  /** Events of sessions that somebody has written into a backup. */
  readonly planted: ReadonlySet<string>;
  /** Events of sessions that a member has announced in the name of others, by that member. */
  readonly hearsay: ReadonlyMap<string, UserID>;
  /** What members were to share with whom they invite. */
  readonly shares: readonly SharedHistory[];
  /** Another's ciphertext in an own event, by who has said that. */
  readonly copied: ReadonlyMap<string, Device>;
  /** Adds a line to the trace. */
  readonly note: (line: string) => void;
  /** Notes what must not be. */
  violate(what: string): void;
  /** Counts that something was reached. */
  readonly reach: (what: string) => void;
  /** The numbers of what was said, with who has said it. */
  readonly sayings: ReadonlyMap<number, { readonly device: Device; readonly saying: Saying }>;
  /** Has a device say something in a room. */
  reply(device: Device, room: RoomID, words: (number: number) => string): void;
  /** Learns what a device has committed. */
  committed(device: Device, mutations: readonly StoreMutation[]): void;
  /** Learns what became of history that a device was to share, or to take. */
  historyNoted(device: Device, line: string, about: Readonly<Record<string, unknown>>): void;
  /** Judges why a process ended by itself. */
  failed(device: Device, process: Process, cause: unknown): void;
  /** Judges what a process leaves behind that was closed. */
  closed(device: Device, process: Process): void;
}

/** A logger of which the trace has the warnings and errors, and what is said of history that is shared. */
export function loggerOf(
  name: string,
  note: (line: string) => void,
  onHistory: (line: string, about: Readonly<Record<string, unknown>>) => void = () => {},
): Logger {
  const print = (level: string) => (message: string, data: Record<string, unknown> = {}) => {
    note(`${name} ${level}: ${message} ${JSON.stringify(data)}`);
    if (message.includes("history")) onHistory(message, data);
  };
  const info = print("says");
  return {
    debug() {},
    info: (message, data) => {
      if (message.includes("history")) info(message, data);
    },
    warn: print("warns"),
    error: print("error"),
  };
}
