/**
 * What happens every day: people talk, come and go, get new devices and lose old ones.
 *
 * @module
 */

import { type ActionKind, chosen, type Scene } from "./action.ts";

/** The user whom an action names beside its device. */
function other({ world, action, device }: Scene) {
  return chosen(world.accounts.filter((account) => account !== device.account), action.what);
}

/** Changes a membership as another program of the user does. */
async function change(scene: Scene, verb: string, target?: string): Promise<void> {
  const { world, room, device } = scene;
  const body = target === undefined ? {} : { user_id: target };
  const token = await world.tokenOf(device.account);
  const answer = await world.ask(token, "POST", `v3/rooms/${encodeURIComponent(room.id)}/${verb}`, body);
  world.note(
    `${device.userId} ${verb} ${target ?? ""} in room ${world.rooms.indexOf(room) + 1}: ${
      JSON.stringify(answer)
    }`,
  );
}

/** The first user, who made all rooms, and may throw others out. */
function byCreator(scene: Scene): Scene {
  const [creator] = scene.world.accounts;
  const device = creator?.devices.find(({ goneAt }) => goneAt === Infinity);
  return device === undefined ? scene : { ...scene, device };
}

const DAY = 86_400_000;
/** How many devices a world may have. */
const MOST_DEVICES = 8;

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
    name: "new device",
    weight: 3,
    async perform({ world, device }) {
      if (device.account.isBot || world.devices.length >= MOST_DEVICES) return;
      (await world.addDevice(device.account)).start();
    },
  },
  {
    name: "log out a device",
    weight: 2,
    async perform({ world, device }) {
      const left = device.account.devices.filter(({ goneAt }) => goneAt === Infinity);
      if (device.account.isBot || left.length < 2) return;
      world.note(`${device.name} is logged out by another program`);
      await world.ask(device.token, "POST", "v3/logout", {});
      device.goneAt = world.timeline.now;
    },
  },
  {
    name: "encrypt the room",
    weight: 2,
    async perform({ world, room }) {
      const [creator] = world.accounts;
      if (creator === undefined || room.encryptedAt < Infinity) return;
      const { event_id } = await world.ask(
        await world.tokenOf(creator),
        "PUT",
        `v3/rooms/${encodeURIComponent(room.id)}/state/m.room.encryption`,
        { algorithm: "m.megolm.v1.aes-sha2" },
      );
      if (event_id === undefined) return; // its token has expired, for one
      room.encryptedAt = world.timeline.now;
      world.note(`room ${world.rooms.indexOf(room) + 1} is encrypted from now on`);
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
      const path = `v3/rooms/${encodeURIComponent(room.id)}/redact/${encodeURIComponent(event.event_id)}`;
      await world.ask(await world.tokenOf(creator), "PUT", `${path}/redact-${world.timeline.instant()}`, {});
      world.note(`${event.event_id} is redacted`);
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
      world.timeline.skip(DAY);
      for (const device of devices) device.start();
    },
  },
  {
    name: "rest",
    weight: 4,
    perform: ({ world, action }) => world.timeline.pass((1 + action.what % 20) * 10_000),
  },
];
