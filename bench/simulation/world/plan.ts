/**
 * What a world begins with.
 *
 * @module
 */

import { encodeRecoveryKey } from "../../../src/crypto/secrets/secrets.ts";
import type { ServicePlan } from "../appservice/world_service.ts";
import { Chance } from "../core/chance.ts";
import type { QuirkName } from "../quirks/quirks.ts";
import type { Aim } from "./aim.ts";

/** What a world begins with: plain data. */
export interface WorldPlan {
  readonly seed: number;
  /** How many devices each user has; the first user is a person, those after `people` are bots. */
  readonly devices: readonly number[];
  /** How many users are people; the others are bots. */
  readonly people: number;
  /** Whether stores are sealed. */
  readonly isSealed: boolean;
  /** Whether tokens expire, and are refreshed. */
  readonly refreshes: boolean;
  /** Whether devices answer requests for keys. */
  readonly answersRequests?: boolean;
  /** How long it has to find together before anything happens, in milliseconds. */
  readonly beginning: number;
  /** Whether bots do without encryption. */
  readonly plainBots: boolean;
  /** Whether clients use sliding sync: all of them, or some of their processes. Default: none. */
  readonly slides?: "all" | "some";
  /** Whether they do so by the merged spelling. Default: by that of Synapse. */
  readonly isMerged?: boolean;
  /** Whether clients ask for members only when they need them. */
  readonly lazy: boolean;
  /** How many events a timeline has at most; undefined: as many as the server likes. */
  readonly timelineLimit?: number;
  /**
   * Who has a recovery key, so that their devices are signed and their room keys backed up: `some` users,
   * or `all`, who then send to devices only that their users vouch for. Default: nobody.
   */
  readonly trust?: "some" | "all";
  /** Whether users with a recovery key have dehydrated devices. Default: no. */
  readonly dehydrates?: boolean;
  /** Whether clients share the history of rooms with who is invited, and take it. Default: no. */
  readonly sharesHistory?: boolean;
  /** Whether bots are bots of the kit. Default: no. */
  readonly hasKit?: boolean;
  /** An application service; undefined: there is none. */
  readonly service?: ServicePlan;
  /** What the homeserver does beside what it should. Default: nothing. */
  readonly quirks?: readonly QuirkName[];
  /** What lies in wait from the beginning. Default: nothing. */
  readonly aims?: readonly Aim[];
  /** Of each room, whether it is encrypted, and after how many messages sessions rotate. */
  readonly rooms: readonly { readonly encrypted: boolean; readonly rotation: number }[];
}

/** Options of the command line that leave worlds out, and which worlds are left. */
export const WORLD_OPTIONS: ReadonlyMap<string, (plan: WorldPlan) => boolean> = new Map([
  ["--kit", ({ hasKit }) => hasKit === true],
  ["--service", ({ service }) => service !== undefined],
  ["--trust", ({ trust }) => trust !== undefined],
  ["--vouched", ({ trust }) => trust === "all"],
  ["--history", ({ sharesHistory }) => sharesHistory === true],
  ["--sliding", ({ slides }) => slides !== undefined],
  ["--quirks", ({ quirks = [] }) => quirks.length > 0],
]);

/** The recovery key of the user of a number; undefined: that one has none. */
export function recoveryKeyOf(
  { trust, seed }: Pick<WorldPlan, "trust" | "seed">,
  user: number,
): string | undefined {
  if (trust === undefined) return undefined;
  const chance = new Chance(`recovery key ${seed} ${user}`);
  if (trust === "some" && chance.odds(0.3)) return undefined;
  return encodeRecoveryKey(chance.fill(new Uint8Array(32)));
}
