/**
 * What happens every day: people talk, come and go, get new devices and lose old ones.
 *
 * Over 300 lines because it is one list of actions.
 *
 * @module
 */

import { foretell } from "./faults.ts";
import { MEMO } from "../world/application.ts";
import type { Device } from "../world/device.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";

/** The user whom an action names beside its device. */
function other({ world, action, device }: Scene) {
  return chosen(world.accounts.filter((account) => account !== device.account), action.what);
}

/** Changes a membership as another program of the user does. */
async function change(scene: Scene, verb: string, target?: string): Promise<void> {
  const { world, room, device } = scene;
  const body = target === undefined ? {} : { user_id: target };
  const token = await device.account.token();
  const answer = await world.ask(token, "POST", `v3/rooms/${encodeURIComponent(room.id)}/${verb}`, body);
  world.note(
    `${device.userId} ${verb} ${target ?? ""} in room ${world.rooms.indexOf(room) + 1}: ${
      JSON.stringify(answer)
    }`,
  );
}

/** Encrypts a room, unless it is. */
async function encrypt({ world, room }: Scene): Promise<void> {
  const [creator] = world.accounts;
  if (creator === undefined || room.encryptedAt < Infinity) return;
  const { event_id } = await world.ask(
    await creator.token(),
    "PUT",
    `v3/rooms/${encodeURIComponent(room.id)}/state/m.room.encryption`,
    { algorithm: "m.megolm.v1.aes-sha2" },
  );
  if (event_id === undefined) return; // its token has expired, for one
  room.encryptedAt = world.timeline.now;
  world.note(`room ${world.rooms.indexOf(room) + 1} is encrypted from now on`);
}

/** The first user, who made all rooms, and may throw others out. */
function byCreator(scene: Scene): Scene {
  const [creator] = scene.world.accounts;
  const device = creator?.devices.find(({ goneAt }) => goneAt === Infinity);
  return device === undefined ? scene : { ...scene, device };
}

const DAY = 86_400_000;
/** How long a request is on its way at most, in milliseconds. */
const ARRIVAL = 1_000;
/** How long what is said takes to arrive, and a process to have begun, in milliseconds. */
const SOON = 20_000;
/** How many events of a timeline a response shows. */
const MOST_SHOWN = 10;
/** The type of events that concern nobody. */
const NOISE = "org.example.noise";
const MEMBER = "m.room.member";
/** How many devices a world may have. */
export const MOST_DEVICES = 8;

/** Much goes wrong with a device on its first day. */
function mayCrash(device: Device, what: number): void {
  if (what % 4 === 0) return;
  device.process?.plan({ operation: "commit", kind: "crash", takesEffect: true, after: (what >> 2) % 16 });
}

/** A bot that is invited and has never run; undefined: there are enough devices. */
export async function newBot(scene: Scene): Promise<Device | undefined> {
  const { world, action: { what } } = scene;
  if (world.devices.length >= MOST_DEVICES) return undefined;
  const account = world.addAccount({ isBot: true });
  const device = await world.addDevice(account);
  for (const room of world.rooms.slice(0, 1 + what % 2)) {
    await change(byCreator({ ...scene, room }), "invite", account.userId);
  }
  return device;
}

/** The kinds. */
export const everyday: readonly ActionKind[] = [
  {
    name: "say",
    weight: 30,
    perform({ world, device, room }) {
      const speaker = device.account.isBot
        ? world.accounts[0]?.devices.find(({ isRunning }) => isRunning)
        : device;
      if (speaker !== undefined) world.say(speaker, room);
    },
  },
  {
    name: "say much",
    weight: 3,
    perform({ world, device, room, action }) {
      if (device.account.isBot) return;
      for (let count = 0; count < 2 + action.what % 5; count++) world.say(device, room);
    },
  },
  {
    name: "queue",
    weight: 4,
    perform({ world, device, room, action }) {
      if (device.account.isBot) return;
      for (let count = 0; count < 2 + action.what % 4; count++) world.say(device, room, { isQueued: true });
    },
  },
  {
    name: "kick",
    weight: 2,
    perform: (scene) => change(byCreator(scene), "kick", other(byCreator(scene))?.userId),
  },
  {
    name: "invite",
    weight: 4,
    perform: (scene) => change(byCreator(scene), "invite", other(byCreator(scene))?.userId),
  },
  {
    name: "ban",
    weight: 1,
    perform: (scene) => change(byCreator(scene), "ban", other(byCreator(scene))?.userId),
  },
  {
    name: "unban",
    weight: 1,
    perform: (scene) => change(byCreator(scene), "unban", other(byCreator(scene))?.userId),
  },
  {
    name: "leave",
    weight: 2,
    async perform(scene) {
      if (scene.device.account !== scene.world.accounts[0]) await change(scene, "leave");
    },
  },
  { name: "join", weight: 3, perform: (scene) => change(scene, "join") },
  {
    name: "a device is started again and again",
    weight: 2,
    perform({ world, device, room, action: { what, where } }) {
      const { timeline } = world;
      const speaker = world.devices.find((each) => !each.account.isBot && each !== device) ?? device;
      world.note(`${device.name} is started again and again`);
      const pause = 1_000 + (what % 16) * 500;
      for (let times = 0; times < 3; times++) {
        timeline.schedule(times * pause, "", () => {
          device.kill();
          device.start();
        });
        for (let count = 0; count < 1 + where % 3; count++) {
          timeline.schedule(times * pause + count * pause / 3 + 300, "", () => {
            if (speaker.goneAt === Infinity && world.rooms.includes(room)) world.say(speaker, room);
          });
        }
      }
    },
  },
  {
    name: "new device",
    weight: 3,
    async perform({ world, device, room, action: { what } }) {
      if (device.account.isBot || world.devices.length >= MOST_DEVICES) return;
      const added = await world.addDevice(device.account);
      added.start();
      mayCrash(added, what);
      if (what % 2 > 0) world.say(device, room);
    },
  },
  {
    name: "new bot",
    weight: 2,
    async perform(scene) {
      const device = await newBot(scene);
      device?.start();
      if (device !== undefined) mayCrash(device, scene.action.what);
    },
  },
  {
    name: "another program sends a memo",
    weight: 3,
    async perform({ world, device, action: { what } }) {
      const number = world.memos.size + 1;
      // The server deletes what it has delivered as soon as the device asks for more.
      if (what % 4 === 0) {
        device.process?.plan({
          operation: "commit",
          kind: "crash",
          takesEffect: false,
          after: (what >> 2) % 3,
        });
      }
      world.memos.set(number, { device, at: world.timeline.now });
      await world.ask(world.stranger.accessToken, "PUT", `v3/sendToDevice/${MEMO}/memo-${number}`, {
        messages: { [device.userId]: { [device.deviceId]: { number } } },
      });
      world.note(`memo ${number} is sent to ${device.name}`);
    },
  },
  {
    name: "log out a device",
    weight: 2,
    async perform({ world, device }) {
      const left = device.account.devices.filter(({ goneAt }) => goneAt === Infinity);
      if (device.account.isBot || left.length < 2) return;
      world.note(`${device.name} is logged out by another program`);
      const { token } = await device.account.login({ deviceId: device.deviceId, refreshes: false });
      await world.ask(token, "POST", "v3/logout", {});
      device.goneAt = world.timeline.now;
    },
  },
  { name: "encrypt the room", weight: 2, perform: encrypt },
  {
    name: "encrypt a room while somebody is away",
    weight: 2,
    async perform(scene) {
      const { world, device } = scene;
      const room = world.rooms.find(({ encryptedAt }) => encryptedAt === Infinity);
      if (room === undefined || device.account.isBot || device.process?.isPaused) return;
      await device.stop();
      await encrypt({ ...scene, room });
      world.say(device, room);
      device.start();
    },
  },
  {
    name: "a room is encrypted in which somebody only reads",
    weight: 1,
    async perform(scene) {
      const { world } = scene;
      const speaker = world.accounts[0]?.devices.find(({ isRunning, process }) =>
        isRunning && process?.isPaused !== true
      );
      if (speaker === undefined || world.devices.length >= MOST_DEVICES) return;
      const guest = world.addAccount({ isBot: false });
      (await world.addDevice(guest)).start();
      const room = await world.addRoom({ rotation: undefined, guests: [guest] });
      if (room === undefined) return;
      await world.timeline.pass(SOON);
      await encrypt({ ...scene, room });
      for (let count = 0; count < 2; count++) {
        await world.timeline.pass(SOON);
        world.say(speaker, room);
      }
    },
  },
  {
    name: "redact",
    weight: 2,
    async perform(scene) {
      const { world, room, action } = byCreator(scene);
      const event = chosen(world.homeserver.room(room.id).messages, action.what);
      const [creator] = world.accounts;
      if (event === undefined || creator === undefined) return;
      // It may be what shows a device that its disk was put back.
      if (world.devices.some(({ loss }) => loss.isBlind(world.timeline.now))) return;
      const path = `v3/rooms/${encodeURIComponent(room.id)}/redact/${encodeURIComponent(event.event_id)}`;
      await world.ask(await creator.token(), "PUT", `${path}/redact-${world.timeline.instant()}`, {});
      world.note(`${event.event_id} is redacted`);
    },
  },
  {
    name: "a member is thrown out while somebody is away, which is not shown",
    weight: 2,
    async perform(scene) {
      const { world, device, room, action: { what } } = scene;
      const [creator, ...others] = world.accounts;
      const gone = chosen(others.filter((each) => each !== device.account), what >> 1);
      if (creator === undefined || gone === undefined) return;
      if (device.account.isBot || !device.isRunning || device.process?.isPaused) return;
      world.say(device, room);
      await world.timeline.pass(SOON);
      if (what % 2 === 0) await device.stop();
      else world.network.restart(1_000);
      foretell(world, device, { kind: "403", path: "/messages" });
      // With lazily loaded members a server need not show in the state who has left; Synapse does.
      if (world.sync.lazyLoadMembers) {
        world.network.tamper(device, "/sync", (body) => {
          const state = body.rooms?.join?.[room.id]?.state;
          if (state) state.events = state.events.filter(({ type }: { type: string }) => type !== MEMBER);
        });
      }
      await change(byCreator(scene), "kick", gone.userId);
      const token = await creator.token();
      for (let count = 0; count < MOST_SHOWN; count++) {
        const place = `v3/rooms/${encodeURIComponent(room.id)}/send/${NOISE}/${world.timeline.instant()}`;
        await world.ask(token, "PUT", place, {});
      }
      if (what % 2 === 0) device.start();
      await world.timeline.pass(SOON);
      world.say(device, room);
    },
  },
  {
    name: "everybody is away for a day",
    weight: 1,
    async perform({ world }) {
      const devices = world.devices.filter(({ isRunning, process }) =>
        isRunning && process?.isPaused !== true
      );
      world.note("everybody is away for a day");
      for (const device of devices) await device.stop();
      await world.timeline.pass(ARRIVAL); // no request is on its way for a day
      world.timeline.skip(DAY);
      for (const { process } of world.service?.runs ?? []) process.hasStoodStill = true;
      world.dayOffAt = world.timeline.now;
      for (const device of devices) device.start();
    },
  },
  {
    name: "rest",
    weight: 4,
    perform: ({ world, action }) => world.timeline.pass((1 + action.what % 20) * 10_000),
  },
];
