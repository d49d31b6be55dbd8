/**
 * What is played in a world: drawn from a seed, or what shrinking has left of that.
 *
 * @module
 */

import { ALL_KINDS, HURTING_KINDS } from "./actions/all_kinds.ts";
import type { Action, ActionKind } from "./actions/action.ts";
import { aimsOf } from "./aims.ts";
import type { ServicePlan } from "./appservice/world_service.ts";
import { Chance } from "./core/chance.ts";
import { type Needs, type Occasion, occasionOf, type Part } from "./occasions.ts";
import { type QuirkName, quirksOf } from "./quirks/quirks.ts";
import type { Aim } from "./world/aim.ts";
import type { WorldPlan } from "./world/plan.ts";

/** A world and what happens in it. */
export interface Story {
  readonly plan: WorldPlan;
  readonly actions: readonly Action[];
}

/** Of so many seeds, one is a large world. */
const LARGE = 50;

/** Of so many seeds with a bot, in one bots are bots of the kit. */
const KITS = 5;

/** Of eight seeds, in one some users have recovery keys, and in one all, who vouch for their devices. */
const TRUST: readonly WorldPlan["trust"][] = [...Array<undefined>(6), "some", "all"];

/**
 * Of so many seeds, one has an application service, and of so many of those one whose processes do not stay.
 */
const [SERVICES, PASSING] = [12, 3];

/**
 * What part of the kinds of actions a story is made of:
 * a few that come again meet in more ways than many that come once.
 */
const SHARE = 0.25;

/** What shows what others have done: every story has it, more often than all kinds together would. */
const SAY = "say";

/** Those that every story may have, as often as if it had all kinds: without them others come to nothing. */
const ALWAYS: ReadonlySet<string> = new Set([
  ...["start", "rest", "fault"],
  ...["command", "people talk to a service", "a member invites somebody, and shares the history"],
]);

/** How much happens at most in a story that aims at something, beside that: it takes time, too. */
const FEW = 7;

/** Of a story that aims at nothing. */
const NOTHING: Occasion = { needs: {}, parts: [] };

/** How much more often an action is drawn that is favoured. */
const FAVOUR = 20;

/** By which sync clients read: most of the worlds by the classic one. */
const SLIDES = ["all", "some", undefined, undefined, undefined, undefined] as const;

/** What other story to draw for a seed than that without. */
export interface StoryOptions {
  /** The name of an action that happens often in it. */
  readonly favoured?: string;
  /** What it aims at. */
  readonly aim?: Aim;
  /** The quirks of its homeserver. Default: chance decides. */
  readonly quirks?: readonly QuirkName[];
}

/** Draws the story of a seed. */
export function storyOf(
  seed: number,
  { favoured, aim, quirks = quirksOf(seed) }: StoryOptions = {},
): Story {
  const chance = new Chance(`story ${seed}`);
  // Other sources, so that the rest of a world does not change with them.
  const drawnTrust = new Chance(`trust ${seed}`).pick(TRUST);
  const ofService = new Chance(`service ${seed}`);
  const isOfService = aim !== undefined && occasionOf(aim.operation).needs.service !== undefined;
  const hasService = ofService.below(SERVICES) === 0 || isOfService;
  const aims = aimsOf(seed, hasService ? "service" : drawnTrust === undefined ? "plain" : "trust", aim);
  const { needs, parts, also = [] } = aims[0] === undefined ? NOTHING : occasionOf(aims[0].operation);
  const isLarge = chance.below(LARGE) === 0;
  const alone = isLarge ? 1 + chance.below(3) : chance.odds(0.7) ? 1 : 2;
  const people = needs.isSocial ? Math.max(2, alone) : alone;
  const bots = people === 1 || chance.odds(0.6) || needs.hasKit ? 1 : 0;
  const devices = Array.from(
    { length: people + bots },
    (_, index) => index < people && (chance.odds(isLarge ? 0.5 : 0.15) || needs.isTwofold) ? 2 : 1,
  );
  const rooms = Array.from({ length: 1 + chance.below(isLarge ? 3 : 2) }, () => ({
    encrypted: chance.odds(0.8),
    rotation: chance.pick([2, 3, 5, 100]),
  }));
  const trust = needs.isVouched ? "all" : drawnTrust;
  // Only devices that their users vouch for take part.
  const sharesHistory = trust !== undefined &&
    (needs.sharesHistory ?? new Chance(`history ${seed}`).odds(0.5));
  const hasKit = bots > 0 && (needs.hasKit ?? new Chance(`kit ${seed}`).below(KITS) === 0);
  const service = hasService ? serviceOf(ofService, { trust, needed: needs.service }) : undefined;
  const isAimed = aims.length > 0;
  const slides = SLIDES[new Chance(`sliding ${seed}`).below(SLIDES.length)];
  const isMerged = slides !== undefined && new Chance(`merged ${seed}`).odds(0.5);
  const count = isAimed ? 1 + chance.below(FEW) : isLarge ? 25 + chance.below(30) : 3 + chance.below(14);
  const traits: Traits = {
    hasTrust: trust !== undefined,
    sharesHistory,
    hasKit,
    hasService: service !== undefined,
    isSpared: service?.isEncrypted === true,
  };
  const kinds = kindsOf(seed);
  return {
    plan: {
      seed,
      devices,
      people,
      rooms,
      beginning: chance.odds(0.7) && needs.isEarly !== true ? 15_000 : chance.below(1_000),
      plainBots: chance.odds(0.25),
      lazy: chance.odds(0.25),
      timelineLimit: chance.odds(0.2) ? 1 + chance.below(3) : undefined,
      ...slides === undefined ? {} : { slides },
      ...isMerged ? { isMerged } : {},
      isSealed: chance.odds(0.2),
      refreshes: chance.odds(0.25) || needs.refreshes === true,
      answersRequests: chance.odds(0.3),
      trust,
      ...trust === undefined ? {} : {
        dehydrates: needs.dehydrates ?? new Chance(`dehydrated ${seed}`).odds(0.4),
      },
      ...sharesHistory ? { sharesHistory } : {},
      ...hasKit ? { hasKit } : {},
      ...service === undefined ? {} : { service },
      ...isAimed ? { aims: [...also, ...aims] } : {},
      ...quirks.length > 0 ? { quirks } : {},
    },
    actions: withParts(
      Array.from({ length: count }, () => draw(chance, { kinds, favoured, traits })),
      {
        parts: parts.filter(({ kind }) => mayHappen(ALL_KINDS.get(kind), traits)),
        chance,
        isEarly: needs.isEarly === true,
      },
    ),
  };
}

/** Puts what has to happen in between what was drawn, before half of it. */
function withParts(
  drawn: readonly Action[],
  { parts, chance, isEarly }: {
    readonly parts: readonly Part[];
    readonly chance: Chance;
    readonly isEarly: boolean;
  },
): readonly Action[] {
  const at = isEarly ? 0 : chance.below(1 + drawn.length / 2);
  return drawn.toSpliced(at, 0, ...parts.map((part) => ({ ...numbersOf(chance), ...part })));
}

/** The application service of a world. */
function serviceOf(
  chance: Chance,
  { trust, needed }: { readonly trust: WorldPlan["trust"]; readonly needed: Needs["service"] },
): ServicePlan {
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
    ...needed,
  };
}

/** The kinds of actions that a seed's story is made of, beside those of every story. */
function kindsOf(seed: number): ReadonlySet<string> {
  const chance = new Chance(`kinds ${seed}`);
  return new Set(ALL_KINDS.keys().filter((name) => chance.odds(SHARE) || ALWAYS.has(name) || name === SAY));
}

/** What decides which kinds of actions a world has. */
interface Traits {
  readonly hasTrust: boolean;
  readonly sharesHistory: boolean;
  readonly hasKit: boolean;
  readonly hasService: boolean;
  readonly isSpared: boolean;
}

/** Whether a world has a kind of actions. */
function mayHappen(
  kind: ActionKind | undefined,
  { hasTrust, sharesHistory, hasKit, hasService, isSpared }: Traits,
): boolean {
  if (kind === undefined) return false;
  const { name, isOfTrust = false, isOfHistory = false, isOfKit = false, isOfService = false } = kind;
  return (hasTrust || !isOfTrust) && (sharesHistory || !isOfHistory) && (hasKit || !isOfKit) &&
    (hasService || !isOfService) && !(isSpared && HURTING_KINDS.has(name));
}

/** When something happens, and the numbers that decide what. */
function numbersOf(chance: Chance): Omit<Action, "kind"> {
  return {
    after: chance.below(4) === 0 ? chance.below(20_000) : chance.below(400),
    who: chance.below(64),
    where: chance.below(64),
    what: chance.below(256),
  };
}

function draw(
  chance: Chance,
  { kinds: own, favoured, traits }: {
    readonly kinds: ReadonlySet<string>;
    readonly favoured: string | undefined;
    readonly traits: Traits;
  },
): Action {
  const kinds = ALL_KINDS.values().filter((kind) =>
    mayHappen(kind, traits) && (own.has(kind.name) || kind.name === favoured)
  ).map(({ name, weight }) => ({
    name,
    weight: weight * (name === favoured ? FAVOUR : ALWAYS.has(name) ? SHARE : 1),
  })).toArray();
  let at = chance.next() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  const kind = kinds.find(({ weight }) => (at -= weight) < 0) ?? { name: "rest" };
  return { kind: kind.name, ...numbersOf(chance) };
}
