/**
 * What is played in a world: drawn from a seed, or what shrinking has left of that.
 *
 * @module
 */

import { ALL_KINDS, HURTING_KINDS } from "./actions/all_kinds.ts";
import type { Action } from "./actions/action.ts";
import type { ServicePlan } from "./appservice/world_service.ts";
import { Chance } from "./core/chance.ts";
import type { WorldPlan } from "./world/plan.ts";

/** A world and what happens in it. */
export interface Story {
  readonly plan: WorldPlan;
  readonly actions: readonly Action[];
}

/** Of so many seeds, one is a large world. */
const LARGE = 16;

/** Of so many seeds with a bot, in one bots are bots of the kit. */
const KITS = 4;

/** Of so many seeds, one has an application service, and of so many of those one whose processes do not stay. */
const [SERVICES, PASSING] = [10, 3];

/** How much more often an action is drawn that is favoured. */
const FAVOUR = 20;

/**
 * Draws the story of a seed.
 *
 * @param seed The seed.
 * @param favoured The name of an action that happens often in it: another story than without.
 */
export function storyOf(seed: number, favoured?: string): Story {
  const chance = new Chance(`story ${seed}`);
  const isLarge = chance.below(LARGE) === 0;
  const people = 1 + chance.below(isLarge ? 3 : 2);
  const bots = people === 1 || chance.odds(0.6) ? 1 : 0;
  const devices = Array.from(
    { length: people + bots },
    (_, index) => index < people && chance.odds(isLarge ? 0.5 : 0.15) ? 2 : 1,
  );
  const rooms = Array.from({ length: 1 + chance.below(isLarge ? 3 : 2) }, () => ({
    encrypted: chance.odds(0.8),
    rotation: chance.pick([2, 3, 5, 100]),
  }));
  // Another source, so that the rest of a world does not change with it.
  const trust = new Chance(`trust ${seed}`).pick([undefined, undefined, undefined, undefined, "some", "all"]);
  // Only devices that their users vouch for take part.
  const sharesHistory = trust !== undefined && new Chance(`history ${seed}`).odds(0.5);
  const hasKit = bots > 0 && new Chance(`kit ${seed}`).below(KITS) === 0;
  const service = serviceOf(seed, trust);
  const count = isLarge ? 35 + chance.below(45) : 8 + chance.below(22);
  return {
    plan: {
      seed,
      devices,
      people,
      rooms,
      beginning: chance.odds(0.7) ? 15_000 : chance.below(1_000),
      plainBots: chance.odds(0.25),
      lazy: chance.odds(0.25),
      timelineLimit: chance.odds(0.2) ? 1 + chance.below(3) : undefined,
      isSealed: chance.odds(0.2),
      refreshes: chance.odds(0.25),
      answersRequests: chance.odds(0.3),
      trust,
      ...trust === undefined ? {} : { dehydrates: new Chance(`dehydrated ${seed}`).odds(0.5) },
      ...sharesHistory ? { sharesHistory } : {},
      ...hasKit ? { hasKit } : {},
      ...service === undefined ? {} : { service },
    },
    actions: Array.from(
      { length: count },
      () =>
        draw(chance, {
          favoured,
          hasTrust: trust !== undefined,
          sharesHistory,
          hasKit,
          hasService: service !== undefined,
          isSpared: service?.isEncrypted === true,
        }),
    ),
  };
}

/** The application service of a seed's world; undefined: it has none. */
function serviceOf(seed: number, trust: WorldPlan["trust"]): ServicePlan | undefined {
  const chance = new Chance(`service ${seed}`);
  if (chance.below(SERVICES) > 0) return undefined;
  const isVouched = trust === "all";
  return {
    stays: chance.below(PASSING) > 0,
    // Making an identity takes many requests.
    ghosts: (isVouched ? 1 : 2) + chance.below(2),
    rooms: 1 + chance.below(2),
    isEncrypted: chance.odds(0.5),
    isPrivate: chance.odds(0.3),
    pings: chance.odds(0.5),
    // Where users vouch for devices, keys go to no other.
    hasIdentities: isVouched || chance.odds(0.1),
  };
}

function draw(
  chance: Chance,
  { favoured, hasTrust, sharesHistory, hasKit, hasService, isSpared }: {
    readonly favoured: string | undefined;
    readonly hasTrust: boolean;
    readonly sharesHistory: boolean;
    readonly hasKit: boolean;
    readonly hasService: boolean;
    readonly isSpared: boolean;
  },
): Action {
  const kinds = ALL_KINDS.values().filter((
    { name, isOfTrust = false, isOfHistory = false, isOfKit = false, isOfService = false },
  ) =>
    (hasTrust || !isOfTrust) && (sharesHistory || !isOfHistory) && (hasKit || !isOfKit) &&
    (hasService || !isOfService) &&
    !(isSpared && HURTING_KINDS.has(name))
  ).map(({ name, weight }) => ({
    name,
    weight: name === favoured ? weight * FAVOUR : weight,
  })).toArray();
  let at = chance.next() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  const kind = kinds.find(({ weight }) => (at -= weight) < 0) ?? { name: "rest" };
  return {
    kind: kind.name,
    after: chance.below(4) === 0 ? chance.below(20_000) : chance.below(400),
    who: chance.below(64),
    where: chance.below(64),
    what: chance.below(256),
  };
}
