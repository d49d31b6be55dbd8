/**
 * What real servers do and the homeserver in the process does not, between clients and it. A world has some
 * quirks or none, as its plan says.
 *
 * @module
 */

import { Chance } from "../core/chance.ts";
import type { SentRequest } from "../world/process.ts";
import { HostileFields } from "./hostile_fields.ts";
import { NoKeyCounts, StaleKeyCounts } from "./key_counts.ts";
import type { Device } from "../world/device.ts";
import {
  InvitationsWait,
  LateSyncs,
  RateLimits,
  SlowFirstSyncs,
  SyncsLag,
  TokensRefused,
} from "./refusals.ts";
import type { Json, Layer, Next, QuirkPlace } from "./quirk.ts";
import { CachedAnswers, OwnJoinTwice, ShownAgain } from "./repeats.ts";
import {
  EmptyTimelines,
  LimitedWithoutNeed,
  NoRoomIds,
  OddPages,
  StateAfter,
  StateBefore,
  TokensMove,
} from "./shapes.ts";
import { TransactionsRepeat } from "./transactions.ts";

/** All quirks, by name: the first is the nearest to clients. */
const QUIRKS = {
  "rate limits": RateLimits,
  "invitations wait": InvitationsWait,
  "cached answers": CachedAnswers,
  "tokens move": TokensMove,
  "late syncs": LateSyncs,
  "tokens refused": TokensRefused,
  "slow first syncs": SlowFirstSyncs,
  "no key counts": NoKeyCounts,
  "empty timelines": EmptyTimelines,
  "limited without need": LimitedWithoutNeed,
  "shown again": ShownAgain,
  "own join twice": OwnJoinTwice,
  "no room IDs": NoRoomIds,
  "odd pages": OddPages,
  "state before": StateBefore,
  "state after": StateAfter,
  "transactions repeat": TransactionsRepeat,
  "stale key counts": StaleKeyCounts,
  "syncs lag": SyncsLag,
  "hostile fields": HostileFields,
} as const satisfies Record<string, new (place: QuirkPlace) => Layer>;

/** The name of a quirk. */
export type QuirkName = keyof typeof QUIRKS;

/** The names of all. */
export const QUIRK_NAMES: readonly QuirkName[] = Object.keys(QUIRKS) as QuirkName[];

/** How many worlds have quirks, and how many of all those have. */
const [QUIRKY, SHARE] = [0.5, 0.2];

/** The quirks of a seed's world. */
export function quirksOf(seed: number): readonly QuirkName[] {
  const chance = new Chance(`quirks ${seed}`);
  if (!chance.odds(QUIRKY)) return [];
  return QUIRK_NAMES.filter(() => chance.odds(SHARE));
}

/** The quirks of some names with commas between; undefined: no names were given. */
export function quirksNamed(names: string | undefined): readonly QuirkName[] | undefined {
  if (names === undefined) return undefined;
  const asked = names === "none" ? [] : names.split(",");
  const unknown = asked.find((name) => !QUIRK_NAMES.some((each) => each === name));
  if (unknown !== undefined) {
    throw new Error(`Cannot play "${unknown}": there is no such quirk; there are ${QUIRK_NAMES.join(", ")}`);
  }
  return QUIRK_NAMES.filter((name) => asked.includes(name));
}

/** The layers of a world. */
export class Quirks {
  readonly #layers: readonly Layer[];

  /**
   * @param options.seed What chance comes from.
   * @param options.names Which there are.
   * @param options.place What they find around them.
   */
  constructor(
    { seed, names, place, reach }: {
      readonly seed: number;
      readonly names: readonly QuirkName[];
      readonly place: Omit<QuirkPlace, "chance" | "does">;
      readonly reach: (what: string) => void;
    },
  ) {
    this.#layers = QUIRK_NAMES.filter((name) => names.includes(name)).map((name) =>
      new QUIRKS[name]({
        ...place,
        chance: new Chance(`quirk ${name} ${seed}`),
        does: (how) => reach(`quirk: ${name}${how === undefined ? "" : ` ${how}`}`),
      })
    );
  }

  /** Has a request be answered. */
  ask(device: Device, request: SentRequest, serve: Next): Promise<Response> {
    const from = (index: number): Next => (asked) =>
      this.#layers[index]?.ask({ device, request: asked }, from(index + 1)) ?? serve(asked);
    return from(0)(request);
  }

  /** The text of an answer as it goes out: {@link Layer.last}. */
  last(device: Device, request: SentRequest, text: string): string {
    return this.#layers.reduce((sent, layer) => layer.last?.({ device, request }, sent) ?? sent, text);
  }

  /** A transaction to an application service, as it is sent: {@link Layer.transaction}. */
  transaction(url: string, text: string, delivered: readonly Json[]): string {
    return this.#layers.reduce((sent, layer) => layer.transaction?.(url, sent, delivered) ?? sent, text);
  }

  /** The homeserver begins anew. */
  forget(): void {
    for (const layer of this.#layers) layer.forget?.();
  }
}
