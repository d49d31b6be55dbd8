/**
 * Bots where no process stays: passes one after the other and at once, in one instance and in several,
 * which are evicted when the platform likes.
 *
 * @module
 */

import type { SyncOnceOptions } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { WakeKey } from "../../../src/client/serving/serving.ts";
import { Memberships } from "../judge/memberships.ts";
import type { ShownMessage } from "../judge/owed.ts";
import { type Device, WAKE } from "../world/device.ts";
import type { Run } from "../world/run.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { Chance } from "../core/chance.ts";
import type { Fault } from "../world/process.ts";
import type { ActionKind, Scene } from "./action.ts";
import { newBot } from "./everyday.ts";

/** For how long an instance is kept after its last pass, in milliseconds. */
const LINGERING = 5_000;
/** What a pass has, in milliseconds. */
const DEADLINES = [undefined, undefined, 200, 2_000, 20_000, 120_000];
/** How long after one instance the next begins, in milliseconds. */
const APART = [0, 100, 600, 6_000, 30_000];
/** By when a pass without a deadline has ended, in milliseconds: another may hold the device so long. */
const UNBOUNDED = 600_000;
/** How much later than its deadline a pass may end, in milliseconds: a commit under way is waited for. */
const LATE = 5_000;

/** Where notifications go. */
const GATEWAY = "https://bot.example.org/_matrix/push/v1/notify";
/** How often a notification comes, and how soon again, in milliseconds. */
const [KNOCKS, SOON] = [5, 1_000];

/** Where an instance works. */
interface Place {
  readonly device: Device;
  readonly run: Run;
}

/**
 * Whether it is not recorded that a device has handled an event, and nothing excuses that:
 * no pass can know that a server lags behind which has answered it since.
 */
function hasMissed(
  world: World,
  device: Device,
  { id, latest, since }: { readonly id: RoomID; readonly latest: ShownMessage; readonly since: number },
): boolean {
  if (device.laggedAt >= since) return false;
  if (device.settled >= latest.origin_server_ts || device.loss.isSuffered) return false;
  // A server that was set back may take it for shown to a device whose token is ahead of it.
  return world.setback?.mayMiss(id, device, latest) !== true;
}

/** Makes a pass, which ends in time, and has handled what was there when it began if it says so. */
async function pass(
  world: World,
  { device, run: { client, process } }: Place,
  options: SyncOnceOptions,
): Promise<void> {
  const { timeline, homeserver } = world;
  const [begun, { passTimeout: deadline = UNBOUNDED }] = [timeline.now, options];
  const there = world.roomIds.flatMap((id) => {
    const latest = homeserver.room(id).messages.at(-1);
    return latest === undefined ? [] : [{ id, latest, since: begun }];
  });
  await client.syncOnce({ ...world.sync, ...options }).then(
    ({ events, rounds, left }) => {
      world.reach(`pass: ${left === undefined ? "nothing" : left} left`);
      world.note(`a pass of ${events} events in ${rounds} rounds leaves ${left ?? "nothing"}`);
      if (left !== undefined || !process.isAlive) return;
      for (const room of there) {
        const memberships = new Memberships(homeserver, room.id);
        const isIn = memberships.joined(device.userId, room.latest.origin_server_ts, timeline.now);
        if (!isIn || !hasMissed(world, device, room)) continue;
        world.violate(`a pass of ${device.name} leaves nothing, and has not handled ${room.latest.event_id}`);
      }
    },
    (error) => world.note(`a pass failed: ${error}`),
  );
  const took = timeline.now - begun;
  const isLate = took > deadline + LATE && process.isAlive && !process.hasStoodStill;
  if (isLate) world.violate(`a pass of ${deadline} ms took ${took} ms`);
}

/** Tells an instance of the latest event, as the homeserver does, until it says that it has handled that. */
async function knock(
  world: World,
  { device, room, run: { client, process } }: Place & { readonly room: WorldRoom },
): Promise<void> {
  const event = world.homeserver.room(room.id).messages.at(-1);
  if (event === undefined) return;
  const { userId, deviceId } = device;
  const pushkey = await new WakeKey({ account: () => Promise.resolve([userId, deviceId]) }, WAKE).get();
  const { event_id } = event;
  const notification = { event_id, room_id: room.id, devices: [{ app_id: "greenroom.wake", pushkey }] };
  for (let tries = 0; tries < KNOCKS && process.isAlive; tries++) {
    const [body, since] = [JSON.stringify({ notification }), world.timeline.now];
    const answer = await client.fetch(new Request(GATEWAY, { method: "POST", body }));
    world.note(`${device.name} answers the notification of ${event_id} with ${answer.status}`);
    world.reach(`wake: ${answer.status}`);
    if (!process.isAlive) return;
    const isTold = answer.status === 200 && (await answer.json()).rejected.length === 0;
    if (isTold && hasMissed(world, device, { id: room.id, latest: event, since })) {
      world.violate(`${device.name} says that ${event_id} was handled, which is not recorded`);
    }
    if (isTold) return;
    await world.timeline.clock().delay(SOON);
  }
}

/** Has somebody give the device something to do. */
function speak(world: World, device: Device, room: WorldRoom): void {
  const others = world.devices.filter((each) =>
    each.account !== device.account && !each.account.isBot && each.isRunning
  );
  const [person] = others;
  if (person !== undefined) world.say(person, room);
}

/** Ends an instance that nobody needs any more. */
async function retire(world: World, { client, process }: Run, isClosed: boolean): Promise<void> {
  await world.timeline.clock().delay(LINGERING);
  if (isClosed && process.isAlive) await Promise.race([client.close(), process.ended]);
  process.kill();
}

/** Makes passes, in several instances. */
async function makePasses({ world, device, room, action: { who, where, what } }: Scene): Promise<void> {
  const { timeline } = world;
  const chance = new Chance(`passes ${who} ${where} ${what}`);
  const count = 1 + chance.below(3);
  const instances = 1 + chance.below(3);
  const deadline = chance.pick(DEADLINES);
  const isWoken = chance.odds(0.5);
  const apart = chance.pick(APART);
  world.note(`${device.name} makes ${count} passes in each of ${instances} instances`);
  const all = Array.from({ length: instances }, async (_, index) => {
    const fault = chance.odds(0.4) ? evictionBy(chance) : undefined;
    const isClosed = chance.odds(0.3);
    const pauses = Array.from({ length: count }, () => chance.odds(0.5) ? chance.below(500) : 0);
    await timeline.clock().delay(index * apart);
    const run = device.begin();
    if (fault !== undefined) run.process.plan(fault);
    const made: Promise<void>[] = [];
    for (const pause of pauses) {
      made.push(
        isWoken
          ? knock(world, { device, room, run })
          : pass(world, { device, run }, { passTimeout: deadline }),
      );
      speak(world, device, room);
      await timeline.clock().delay(pause);
    }
    await Promise.race([Promise.all(made), run.process.ended]);
    await retire(world, run, isClosed);
  });
  await Promise.all(all);
}

/** What evicts an instance in the middle of what it does: most of all when its handlers have begun. */
function evictionBy(chance: Chance): Fault {
  const takesEffect = chance.odds(0.5);
  if (chance.odds(0.5)) {
    const subject = chance.pick(["settled/", "session/", "sync", "shown/"]);
    return { operation: "commit", subject, after: chance.below(2), takesEffect, kind: "crash" };
  }
  return {
    operation: chance.pick(["commit", "request"]),
    after: chance.below(12),
    takesEffect,
    kind: "crash",
  };
}

/** The kinds. */
export const passes: readonly ActionKind[] = [
  {
    name: "passes",
    weight: 4,
    async perform(scene) {
      const { device } = scene;
      if (device.process?.isPaused || !device.mayBegin) return;
      await device.stop();
      await makePasses(scene);
    },
  },
  {
    name: "a new bot of which no process stays",
    weight: 2,
    async perform(scene) {
      const device = await newBot(scene);
      if (device?.mayBegin === true) await makePasses({ ...scene, device });
    },
  },
];
