/**
 * What goes wrong: processes, stores, the network and clocks.
 *
 * @module
 */

import type { Operation } from "../../../tests/client/support/crash.ts";
import { maySetBack, setBack } from "../setback/set_back.ts";
import { COMMITS, REQUESTS } from "../world/operations.ts";
import { type ActionKind, chosen } from "./action.ts";
import type { Weather } from "../world/network.ts";
import type { Device } from "../world/device.ts";
import type { Fault } from "../world/process.ts";
import type { World } from "../world/world.ts";
import { hurtDehydrated } from "../world/inheritance.ts";

const HOUR = 3_600_000;
/** Two jumps stay below the 30 days for which undecryptable events wait. */
const TEN_DAYS = 240 * HOUR;
/** How far the server is set back, in milliseconds. */
const BACK = [500, 3_000, 20_000, 60_000, 300_000];
/** How long a device may have no network, in milliseconds. */
const OUTAGES = [5_000, 30_000, 120_000, 900_000];
const OPERATIONS = ["commit", "request", "sync"] as const;
const WEATHER = [
  "lost",
  "lost after",
  "twice",
  "late",
  "late answer",
  "overtaken",
  "429",
  "502",
  "500",
] as const;
const PATHS = [
  "",
  "/send/",
  "/sendToDevice/",
  "/keys/claim",
  "/keys/query",
  "/keys/upload",
  "/sync",
  "/members",
  "/refresh",
  "/whoami",
  "/messages",
  "/state/",
  "/join/",
  "/filter",
  "/room_keys/",
  "/device_signing/",
  "/signatures/",
  "/account_data/",
];

/** Each kind of operation: rare ones have their faults too. */
const KINDS: readonly (readonly [Operation, string])[] = [
  ...COMMITS.map((name) => ["commit", name] as const),
  ...REQUESTS.map((name) => ["request", name] as const),
];

/** Has something happen with the next request of a kind. */
export function foretell(
  world: World,
  device: Device,
  weather: Pick<Weather, "kind" | "path" | "onHit">,
): void {
  world.network.weather.getOrInsertComputed(device, () => []).push({ ...weather, times: 1, ms: 0 });
}

/** The kinds. */
export const faults: readonly ActionKind[] = [
  {
    name: "fault",
    weight: 14,
    perform({ world, device, action: { where, what } }) {
      const fault: Fault = {
        operation: chosen(OPERATIONS, what) ?? "commit",
        takesEffect: where % 2 === 0,
        kind: chosen(["crash", "crash", "error"], where >> 1) ?? "crash",
        after: (what >> 2) % 6,
      };
      device.process?.plan(fault);
      world.note(
        `${device.name}: ${fault.kind} planned for a ${fault.operation}, after ${fault.after} others`,
      );
    },
  },
  {
    name: "fault of a kind",
    weight: 10,
    perform({ world, device, action: { where, what } }) {
      const [operation, subject] = chosen(KINDS, what) ?? ["commit", "account"];
      const fault: Fault = {
        operation,
        subject,
        takesEffect: where % 2 === 0,
        kind: chosen(["crash", "crash", "error"], where >> 1) ?? "crash",
        after: (where >> 3) % 3,
      };
      device.process?.plan(fault);
      world.note(`${device.name}: ${fault.kind} planned for "${subject}", after ${fault.after} others`);
    },
  },
  {
    name: "weather",
    weight: 10,
    perform({ world, device, action: { where, what } }) {
      const kind = chosen(WEATHER, what) ?? "lost";
      const weather: Weather = {
        kind,
        path: chosen(PATHS, where) ?? "",
        times: 1 + (what >> 4) % 3,
        ms: kind === "429" ? 2_000 : ((what >> 6) === 0 ? HOUR : 20_000),
      };
      world.network.weather.getOrInsertComputed(device, () => []).push({ ...weather });
      world.note(`${device.name}: the next ${weather.times} requests of "${weather.path}" are ${kind}`);
    },
  },
  {
    name: "kill",
    weight: 5,
    perform({ world, device }) {
      if (!device.isRunning) return;
      world.note(`${device.name} is killed`);
      device.kill();
    },
  },
  {
    name: "stop",
    weight: 3,
    perform({ world, device }) {
      if (!device.isRunning || device.process?.isPaused) return;
      world.note(`${device.name} is stopped`);
      device.stop();
    },
  },
  {
    name: "start",
    weight: 12,
    perform({ world, device, action }) {
      chosen(world.devices.filter((each) => !each.isRunning && each.goneAt === Infinity), action.who)
        ?.start();
      if (device.process?.isPaused) device.process.resume();
    },
  },
  {
    name: "pause",
    weight: 2,
    perform({ world, device, action }) {
      if (!device.isRunning) return;
      world.note(`${device.name} stands still`);
      const { process } = device;
      process?.pause();
      world.timeline.schedule(
        (1 + action.what % 8) * 20_000,
        `${device.name} goes on`,
        () => process?.resume(),
      );
    },
  },
  {
    name: "clock jumps",
    weight: 2,
    perform({ world, device, action: { what } }) {
      device.skew = chosen([0, 60_000, HOUR, TEN_DAYS, -60_000, -HOUR, -TEN_DAYS], what) ?? 0;
      world.note(`the clock of ${device.name} is ${device.skew} ms off`);
    },
  },
  {
    name: "server restarts",
    weight: 3,
    perform({ world, action }) {
      const ms = (1 + action.what % 30) * 2_000;
      world.note(`the server restarts, which takes ${ms} ms`);
      world.network.restart(ms);
    },
  },
  {
    name: "a device has no network",
    weight: 4,
    perform({ world, device, action: { what } }) {
      const ms = chosen(OUTAGES, what) ?? 0;
      world.note(`${device.name} reaches nothing for ${ms} ms`);
      world.network.cutOff(device, ms);
    },
  },
  {
    name: "the server is set back",
    weight: 3,
    async perform({ world, action: { what } }) {
      const to = world.timeline.now - (chosen(BACK, what) ?? 0);
      if (maySetBack(world, to)) await setBack(world, to);
    },
  },
  {
    name: "token expires",
    weight: 2,
    perform({ world, device, action: { what } }) {
      if (what % 2 === 0) {
        world.note(`the tokens of ${device.userId} expire`);
        return world.homeserver.expireTokens(device.userId);
      }
      world.note(`the tokens of ${device.userId} expire with the next message of ${device.name}`);
      foretell(world, device, { kind: "the last one", path: "/rooms/" });
    },
  },
  {
    name: "a message to devices is refused",
    weight: 2,
    perform({ world, device }) {
      world.note(`the server refuses the next message of ${device.name} to devices`);
      const onHit = (body: string): void => {
        for (const { deviceId, loss } of world.devices) {
          if (body.includes(deviceId)) loss.hurt(world.timeline.now);
        }
        hurtDehydrated(world.accounts, (deviceId) => body.includes(deviceId));
        world.reader?.noteRefused(device.userId, body);
      };
      foretell(world, device, { kind: "403", path: "/sendToDevice/", onHit });
    },
  },
  {
    name: "a gap is not shown",
    weight: 2,
    perform({ world, device }) {
      world.note(`${device.name} is refused what a gap hides`);
      foretell(world, device, { kind: "403", path: "/messages" });
    },
  },
];
