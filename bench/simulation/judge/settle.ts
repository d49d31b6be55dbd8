/**
 * The end of a story: faults end, everybody comes back, and time goes on until nothing is left to do.
 *
 * @module
 */

import type { World } from "../world/world.ts";

/** How long all may take to come to rest, in milliseconds: longer than what is held back longest. */
const PATIENCE = 4 * 3_600_000;
/**
 * How long there must have been nothing new, in milliseconds; and where first syncs take longer than that.
 */
const [QUIET, SLOWLY_QUIET] = [90_000, 300_000];

/** How long an event that was left out twice may wait: ten minutes, and until a sync ends after them. */
const LEFT_OUT = 730_000;

/** How long after a failure devices may wait before they try again, by a clock that goes an hour wrong. */
const HEALING = 7_300_000;

/**
 * How often all talk before they have to read everything: only a second key shows that there is no channel.
 */
const ROUNDS = 3;
/** A homeserver that was set back has forgotten such a key: that is until the session after that begins. */
const ROUNDS_AFTER_SETBACK = 5;

/**
 * How long after each: it has keys of before, and hands them out a second time.
 * Who was given one tries the next an hour later.
 */
const BETWEEN = 3_700_000;

/** Lets a world come to rest. Who has lost something with a disk gets time to heal, and is talked to. */
export async function settle(world: World): Promise<void> {
  await rest(world);
  const patients = world.devices.filter(({ loss }) => loss.needsHealing);
  if (patients.length === 0 || world.violations.length > 0) return;
  await world.timeline.pass(HEALING);
  const last = world.setback === undefined ? ROUNDS : ROUNDS_AFTER_SETBACK;
  for (let round = 0; round <= last; round++) {
    if (round > 0 && world.setback !== undefined) await world.timeline.pass(BETWEEN);
    for (const device of patients) if (round === last) device.loss.healedAt = world.timeline.now;
    for (const room of world.rooms) {
      for (const device of world.devices) {
        if (!device.account.isBot && device.isRunning) world.say(device, room);
      }
    }
    await rest(world);
  }
}

async function rest(world: World): Promise<void> {
  world.note("everything goes well from now on");
  world.network.clear();
  world.ambushes.clear();
  world.service?.recover();
  const devices = world.devices.filter(({ goneAt }) => goneAt === Infinity);
  for (const device of devices) {
    device.fork?.end();
    device.skew = 0;
    device.due.length = 0;
    device.process?.clearFaults();
    device.process?.resume();
    device.isWanted = true;
    device.start();
  }
  const { timeline } = world;
  const begun = timeline.now;
  const quiet = world.hasQuirk("slow first syncs") ? SLOWLY_QUIET : QUIET;
  let quietSince = begun;
  let before = "";
  const isQuiet = () => {
    const state =
      devices.map(({ isRunning, readings, ledger, unsaid, seen }) =>
        [isRunning, readings.size, ledger.length, unsaid.length, seen].join(" ")
      ).join(", ") + `, ${world.service?.answers}`;
    const isBusy = world.awaited > 0 || world.service?.isBusy === true ||
      devices.some(({ isRunning, goneAt, unsaid, answeredAt, leftOutAt }) =>
        goneAt === Infinity &&
        (!isRunning || unsaid.length > 0 || answeredAt <= begun || timeline.now < leftOutAt + LEFT_OUT)
      );
    if (state !== before || isBusy) quietSince = timeline.now;
    before = state;
    return timeline.now - quietSince >= quiet;
  };
  let rounds = 0;
  const isOver = () => {
    for (const device of devices) device.start();
    world.service?.tend();
    if (++rounds % 120 === 0) { for (const device of devices) if (device.isRunning) device.sayAgain(); }
    return isQuiet();
  };
  while (timeline.now < begun + PATIENCE) {
    if (isOver() || world.violations.length > 0) return;
    await timeline.pass(5_000);
  }
  for (const { name, isRunning, unsaid, goneAt } of devices) {
    if (goneAt < Infinity) continue;
    world.note(
      `${name} ${isRunning ? "runs" : "does not run"}, and has yet to say ${
        unsaid.map(({ number }) => number)
      }`,
    );
  }
  world.violate("the world never came to rest");
}
