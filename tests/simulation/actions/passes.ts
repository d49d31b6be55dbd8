/**
 * Bots where no process stays: passes one after the other and at once, in one instance and in several,
 * which are evicted when the platform likes.
 *
 * @module
 */

import type { SyncOnceOptions } from "@greenroom/matrix";
import { WakeKey } from "../../../src/client/serving/wake_key.ts";
import { type Device, WAKE } from "../world/device.ts";
import type { Run } from "../world/run.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { type ActionKind, chosen } from "./action.ts";

/** For how long an instance is kept after its last pass, in milliseconds. */
const LINGERING = 5_000;
/** What a pass has, in milliseconds. */
const DEADLINES = [undefined, 200, 2_000, 20_000, 120_000];
/** By when a pass without a deadline has ended, in milliseconds: another may hold the device so long. */
const UNBOUNDED = 600_000;
/** How much later than its deadline a pass may end, in milliseconds: a commit under way is waited for. */
const LATE = 5_000;

/** Where notifications go. */
const GATEWAY = "https://bot.example.org/_matrix/push/v1/notify";
/** How often a notification comes, and how soon again, in milliseconds. */
const [KNOCKS, SOON] = [5, 1_000];

/** Makes a pass, which ends in time. */
async function pass(world: World, { client, process }: Run, options: SyncOnceOptions): Promise<void> {
  const { timeline } = world;
  const [begun, { deadline = UNBOUNDED }] = [timeline.now, options];
  await client.syncOnce({ ...world.sync, ...options }).then(
    ({ events, rounds, left }) => {
      world.reach(`pass: ${left === undefined ? "nothing" : left} left`);
      world.note(`a pass of ${events} events in ${rounds} rounds leaves ${left ?? "nothing"}`);
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
  { device, room, run: { client, process } }: {
    readonly device: Device;
    readonly room: WorldRoom;
    readonly run: Run;
  },
): Promise<void> {
  const event = world.homeserver.room(room.id).messages.at(-1);
  if (event === undefined) return;
  const { userId, deviceId } = device;
  const pushkey = await new WakeKey({ account: () => Promise.resolve([userId, deviceId]) }, WAKE).get();
  const { event_id, origin_server_ts: at } = event;
  const notification = { event_id, room_id: room.id, devices: [{ app_id: "greenroom.wake", pushkey }] };
  for (let tries = 0; tries < KNOCKS && process.isAlive; tries++) {
    const body = JSON.stringify({ notification });
    const answer = await client.fetch(new Request(GATEWAY, { method: "POST", body }));
    world.note(`${device.name} answers the notification of ${event_id} with ${answer.status}`);
    world.reach(`wake: ${answer.status}`);
    if (!process.isAlive) return;
    const isTold = answer.status === 200 && (await answer.json()).rejected.length === 0;
    const isMissed = isTold && device.settled < at && !device.loss.isSuffered;
    // A server that was set back may take it for shown to a device whose token is ahead of it.
    if (isMissed && world.setback?.mayMiss(room.id, device, event) !== true) {
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

/** The kinds. */
export const passes: readonly ActionKind[] = [
  {
    name: "passes",
    weight: 4,
    async perform({ world, device, room, action: { what } }) {
      if (device.process?.isPaused || !device.mayBegin) return;
      await device.stop();
      const count = 1 + what % 3;
      const deadline = chosen(DEADLINES, what >> 2);
      const instances = 1 + (what >> 4) % 3;
      world.note(`${device.name} makes ${count} passes in each of ${instances} instances`);
      const all = Array.from({ length: instances }, async (_, index) => {
        await world.timeline.clock().delay(index * (what % 7) * 100);
        const run = device.begin();
        if ((what + index) % 4 === 0) {
          run.process.plan({
            operation: index % 2 === 0 ? "commit" : "request",
            after: (what >> 3) % 12,
            takesEffect: what % 2 === 0,
            kind: "crash",
          });
        }
        const made: Promise<void>[] = [];
        for (let each = 0; each < count; each++) {
          const isWake = (what >> 5) % 2 === 0;
          made.push(isWake ? knock(world, { device, room, run }) : pass(world, run, { deadline }));
          speak(world, device, room);
          if (each % 2 === 0) await world.timeline.clock().delay((what % 11) * 50);
        }
        await Promise.race([Promise.all(made), run.process.ended]);
        await retire(world, run, (what + index) % 3 === 0);
      });
      await Promise.all(all);
    },
  },
];
