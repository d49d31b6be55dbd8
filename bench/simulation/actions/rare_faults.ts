/**
 * What goes wrong with what does not happen often: a fault that waits for it, in the process that runs,
 * or in the next one, whose start makes requests that no other time does.
 *
 * @module
 */

import { Chance } from "../core/chance.ts";
import { namedOf } from "../world/aim.ts";
import { type OperationNames, WEATHERS } from "../world/ambushes.ts";
import { CRASH_POINTS } from "../numbered.ts";
import { COMMIT, COMMITS, COMMON, HISTORY_COMMITS, HISTORY_REQUESTS, REQUESTS } from "../world/operations.ts";
import type { Fault } from "../world/process.ts";
import { TRUST_NAMES } from "../world/trust_faults.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";

/**
 * What lies in wait for something of a name, in every world,
 * and where users have recovery keys or share history.
 */
const OF_ALL: OperationNames = { commits: COMMITS, requests: REQUESTS };
const OF_HISTORY: OperationNames = {
  commits: HISTORY_COMMITS,
  requests: [...HISTORY_REQUESTS, "GET versions"],
};

/** How long what is late, or to be tried later, takes, in milliseconds. */
const LATE = 2_000;

/** A fault of what is rare, drawn by two numbers. */
export function rareFault({ where, what }: { readonly where: number; readonly what: number }): Fault {
  return {
    operation: chosen(["commit", "request", "request"], what) ?? "commit",
    spares: COMMON,
    takesEffect: where % 2 === 0,
    kind: (where >> 1) % 2 === 0 ? "crash" : "error",
    after: (where >> 2) % 8,
  };
}

/** Has the next requests of a device that are rare meet with something, each with something else. */
function strike({ world, device, action: { where, what } }: Scene): void {
  const kinds = Array.from(
    { length: 1 + where % 3 },
    (_, index) => chosen(WEATHERS, what + 4 * index) ?? "lost",
  );
  const weather = world.network.weather.getOrInsertComputed(device, () => []);
  for (const kind of kinds) weather.push({ kind, path: "", spares: COMMON, times: 1, ms: LATE });
  world.note(`${device.name}: the next requests that are rare are ${kinds.join(", ")}`);
}

/** What crash points are made of that can be planned: an operation, and what happens to it. */
const WAYS: readonly (readonly [operation: string, what: string])[] = [...CRASH_POINTS.values()].flat()
  .map((way) => way.split(" | "))
  .flatMap(([operation = "", what]) => what === undefined ? [] : [[operation, what] as const]);

/** Has a process of a device get to a crash point, once it comes by there. */
function aimAt({ world, device, action: { where, what } }: Scene, soon: Pick<Fault[], "push">): void {
  const [operation, happens] = chosen(WAYS, what) ?? ["", ""];
  world.note(`${device.name}: "${operation}" is to meet with "${happens}"`);
  if (happens === "lost after") {
    world.network.weather.getOrInsertComputed(device, () => [])
      .push({ kind: "lost after", path: "", only: operation, times: 1, ms: 0 });
    return;
  }
  soon.push({
    ...namedOf(operation, { commit: COMMIT, request: "" }),
    takesEffect: happens === "crash after",
    kind: "crash",
    after: where % 2,
  });
}

/** The kinds. */
export const rareFaults: readonly ActionKind[] = [
  {
    name: "fault of what is rare",
    weight: 16,
    perform({ world, device, action: { where, what } }) {
      const fault = rareFault({ where, what });
      const { operation, kind, after } = fault;
      device.process?.plan(fault);
      world.note(`${device.name}: ${kind} planned for a rare ${operation}, after ${after} others`);
    },
  },
  { name: "weather of what is rare", weight: 16, perform: strike },
  {
    name: "a crash point lies ahead",
    weight: 14,
    perform(scene) {
      const { process, due } = scene.device;
      aimAt(scene, process === undefined ? due : { push: (fault) => (process.plan(fault), 0) });
    },
  },
  {
    name: "something lies in wait",
    weight: 24,
    perform({ world, action: { who, where, what } }) {
      const chance = new Chance(`ambush ${who} ${where} ${what}`);
      const special = world.sharesHistory ? [OF_ALL, TRUST_NAMES, OF_HISTORY] : [OF_ALL, TRUST_NAMES];
      const hasTrust = world.accounts.some(({ recoveryKey }) => recoveryKey !== undefined);
      world.ambushes.draw(chance, [undefined, ...hasTrust ? special : [OF_ALL]]);
    },
  },
  {
    name: "a start goes wrong",
    weight: 8,
    perform(scene) {
      const { world, device, action: { where, what } } = scene;
      if (device.process?.isPaused) return;
      device.due.push(rareFault({ where, what }), rareFault({ where: where * 5 + what, what: what >> 2 }));
      if (what % 2 === 0) strike(scene);
      world.note(`${device.name} begins anew, and something goes wrong with that`);
      device.kill();
      device.start();
    },
  },
];
