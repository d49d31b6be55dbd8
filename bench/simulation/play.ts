/**
 * Plays a story in a world of its own, and judges what came of it.
 *
 * @module
 */

import { loadEngine } from "../../src/actors/crypto/crypto_actor.ts";
import { platform } from "../../src/base/platform/mod.ts";
import { Vodozemac } from "../../vodozemac-wasm/mod.ts";
import { describe } from "../kill/answering.ts";
import { ALL_KINDS } from "./actions/all_kinds.ts";
import { type Action, chosen } from "./actions/action.ts";
import { Chance } from "./core/chance.ts";
import { replaceSources } from "./core/sources.ts";
import { Trace } from "./core/trace.ts";
import { judge } from "./judge/judge.ts";
import { type ReadWorld, readWorld } from "./reader/world_reader.ts";
import { settle } from "./judge/settle.ts";
import type { Story } from "./story.ts";
import { World } from "./world/world.ts";

/** What came of a story. */
export interface Outcome {
  /** What must not be; none if all is well. */
  readonly violations: readonly string[];
  /** A digest of all that happened: the same story has the same. */
  readonly digest: string;
  /** All that happened, if it was to be kept. */
  readonly lines: readonly string[];
  /** How often what was reached. */
  readonly reached: ReadonlyMap<string, number>;
  /** What a reader with another implementation was given, if there was one and nothing was violated. */
  readonly read: ReadWorld | undefined;
}

/** How to play. */
export interface PlayOptions {
  /** Whether to keep what happens. Default: false. */
  readonly keeps?: boolean;
  /** Whether a reader with another implementation is in all rooms. Default: false. */
  readonly hasReader?: boolean;
}

/** What clients import when they need it: then that would take time that is not virtual. */
const LAZY: readonly (() => Promise<unknown>)[] = [
  () => import("../../src/actors/syncer/sliding_sync.ts"),
  () => import("../../src/base/html_text.ts"),
  () => import("../../src/client/serving/serving.ts"),
  () => import("../../src/encryption/secrets/secrets.ts"),
  () => import("../../src/encryption/secrets/account_secrets.ts"),
  () => import("../../src/encryption/backup/key_backup_operations.ts"),
  () => import("../../src/encryption/backup/ensure_backup.ts"),
  () => import("../../src/encryption/ensure_dehydrated.ts"),
  () => import("../../src/encryption/history.ts"),
  () => import("../../src/encryption/identity/identity_secrets.ts"),
  () => import("../../src/encryption/identity/ensure_verified.ts"),
  () => import("../../src/encryption/identity/doctor.ts"),
];

/** How long an action may take, in milliseconds: a pass waits by a clock that may be set back by an hour. */
const LONGEST_ACTION = 2 * 3_600_000;

/** What bots of the kit import when they need it, and what that does first. */
async function loadKit(): Promise<void> {
  const { formatPieces, formatText } = await import("../../src/bot/text/mod.ts");
  await formatPieces("*text*");
  formatText("text");
}

/** Plays a story. */
export async function play(
  { plan, actions }: Story,
  { keeps = false, hasReader = false }: PlayOptions = {},
): Promise<Outcome> {
  const trace = new Trace({ keeps });
  // Where users vouch for devices, one that nobody vouches for would be given nothing.
  const world = new World(hasReader && plan.trust === "all" ? { ...plan, trust: "some" } : plan, { trace });
  const noticed = (event: PromiseRejectionEvent): void => {
    event.preventDefault();
    world.violate(`a promise without an owner: ${describe(event.reason)}`);
  };
  globalThis.addEventListener("unhandledrejection", noticed);
  await Promise.all([loadEngine(), platform.crypto(), ...LAZY.map((load) => load())]);
  if (plan.hasKit === true) await loadKit();
  let read: ReadWorld | undefined;
  try {
    using _sources = replaceSources(new Chance(`sources ${plan.seed}`), world.timeline);
    // An instance has a generator of random numbers of its own, seeded when it is made.
    (await Vodozemac.load())[Symbol.dispose]();
    await Vodozemac.load();
    if (hasReader) await world.addReader();
    await world.populate(plan);
    await world.timeline.pass(plan.beginning);
    for (const action of actions) {
      await perform(world, action);
      if (world.violations.length > 0) break;
    }
    if (world.violations.length === 0) await settle(world);
    if (world.violations.length === 0) await judge(world);
    if (world.violations.length === 0) read = await readWorld(world);
    await world.close();
  } finally {
    globalThis.removeEventListener("unhandledrejection", noticed);
  }
  const { violations, reached } = world;
  return { violations, reached, digest: trace.digest, lines: trace.lines, read };
}

async function perform(world: World, action: Action): Promise<void> {
  await world.timeline.pass(action.after);
  const kind = ALL_KINDS.get(action.kind);
  const device = chosen(world.devices.filter(({ goneAt }) => goneAt === Infinity), action.who);
  const room = chosen(world.rooms, action.where);
  if (kind === undefined || device === undefined || room === undefined) return;
  world.reach(`action: ${action.kind}`);
  let isDone = false;
  // It begins a moment later: time passes here, and what it waits for is waited for within that.
  Promise.resolve().then(() => kind.perform({ world, action, device, room })).catch((error) => {
    world.violate(`the action "${action.kind}" failed: ${describe(error)}`);
  }).finally(() => isDone = true);
  if (!await world.until(() => isDone, LONGEST_ACTION)) {
    world.violate(`the action "${action.kind}" never ended`);
  }
}
