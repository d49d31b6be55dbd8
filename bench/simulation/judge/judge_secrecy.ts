/**
 * Nobody else can read: who had left by what the sender knew, and devices that came later, have no key.
 *
 * @module
 */

import type { MessageEvent } from "@greenroom/matrix/types";
import type { Homeserver } from "@greenroom/matrix/testing";
import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { mayBeShared } from "./judge_history.ts";
import { Memberships } from "./memberships.ts";

/** A message of a room, as the server has it. */
type Message = ReturnType<Homeserver["room"]>["messages"][number];

/** How many events are tried on how many devices, at most; and as others than they are. */
const [MOST_TRIES, MOST_COPIES] = [16, 4];
/** By when a device has answered who asks it for a key, in milliseconds. */
const ANSWER = 5_000;
/** How long it may take, in milliseconds. */
const PATIENCE = 60_000;

/** Tries to decrypt what devices must not be able to read. */
export async function judgeSecrecy(world: World): Promise<void> {
  const { userId, deviceId } = world.stranger;
  for (const { type } of world.homeserver.toDevice(userId, deviceId)) {
    if (/^m\.(room\.encrypted|forwarded_room_key|room_key)$/.test(String(type))) {
      world.violate(`a stranger was sent ${type}`);
    }
  }
  for (const room of world.rooms) {
    judgeSessions(world, room);
    await judgeNosy(world, room);
  }
  const tries = world.rooms.flatMap((room) => triesOf(world, room));
  const copies = world.rooms.flatMap((room) => copiesOf(world, room));
  for (const { device, event, why } of [...some(tries, MOST_TRIES), ...some(copies, MOST_COPIES)]) {
    let isOver = false;
    world.reach(`secrecy: ${why}`);
    if (world.shares.length > 0) world.reach("threat: T37");
    device.client?.crypto?.decrypt(event).then((decryption) => {
      isOver = true;
      if ("event" in decryption) world.violate(`${device.name} can read ${event.event_id}, but ${why}`);
    }, () => isOver = true);
    if (!await world.until(() => isOver, PATIENCE)) {
      world.violate(`decrypt() of ${device.name} never ended`);
    }
  }
}

/** So many of some things at most: every so manieth, from all over the story. */
function some<Thing>(things: readonly Thing[], most: number): Thing[] {
  const step = Math.ceil(things.length / most);
  return things.filter((_, index) => index % step === 0);
}

/** An event that a device must not be able to read. */
interface Try {
  readonly device: Device;
  readonly event: MessageEvent;
  readonly why: string;
}

/** An encrypted message, its author, and up to when that knew the server's state when it was asked. */
interface Secret {
  readonly message: Message;
  readonly author: Device;
  readonly known: number;
}

function secretsOf({ homeserver, devices }: World, room: WorldRoom): Secret[] {
  return homeserver.room(room.id).messages.flatMap((message) => {
    const { event_id: id, sender, type, content } = message;
    const author = devices.find((device) =>
      device.userId === sender && device.deviceId === content.device_id
    );
    const known = author?.knownAt.get(author.readings.get(id) ?? "");
    return type !== "m.room.encrypted" || author === undefined || known === undefined
      ? []
      : [{ message, author, known }];
  });
}

/** Who asks for keys of what was said before they came is told none. */
async function judgeNosy(world: World, room: WorldRoom): Promise<void> {
  const { nosy, homeserver, timeline } = world;
  if (nosy === undefined) return;
  const memberships = new Memberships(homeserver, room.id);
  const secret = secretsOf(world, room).filter(({ message: { origin_server_ts: at }, known }) =>
    world.isVouched || (memberships.absent(nosy.userId, known, at) && world.setback === undefined)
  );
  for (const { message, author } of some(secret, MOST_COPIES)) {
    await nosy.request(author, { room: room.id, sessionId: message.content.session_id });
  }
  await timeline.pass(ANSWER);
  for (const { event_id } of nosy.readable(secret.map(({ message }) => message))) {
    world.violate(`a nosy member can read ${event_id}`);
  }
}

/** A session ends when a device that has its key is gone, or a user left, and its owner knows. */
function judgeSessions(world: World, room: WorldRoom): void {
  const memberships = new Memberships(world.homeserver, room.id);
  const sessions = Map.groupBy(secretsOf(world, room), ({ message }) => message.content.session_id);
  for (const secrets of sessions.values()) {
    for (const device of world.devices) {
      const since = Math.min(
        ...secrets.filter(({ message, author }) => author !== device && device.readings.has(message.event_id))
          .map((secret) => keySince(world, memberships, { device, secret })),
      );
      for (const { message: { event_id, origin_server_ts: at }, author, known } of secrets) {
        const isGone = !author.loss.isSuffered && (author.goneBy.get(device.deviceId) ?? Infinity) < known;
        const isMistaken = () =>
          world.setback?.isMistaken({ room: room.id, author, reader: device, known }) === true;
        if (since < at && (isGone || memberships.absent(device.userId, known, at)) && !isMistaken()) {
          world.violate(
            `${author.name} has encrypted ${event_id} with a key of ${device.name}, which is gone`,
          );
        }
      }
    }
  }
}

/**
 * Since when a device has the key of what it has read: who was not there then may have it by an invitation.
 */
function keySince(
  world: World,
  memberships: Memberships,
  { device, secret: { message, known } }: { readonly device: Device; readonly secret: Secret },
): number {
  const { origin_server_ts: at, content: { session_id: sessionId } } = message;
  const { userId, account: guest } = device;
  if (!memberships.absent(userId, at, at)) return at;
  const isShared = mayBeShared(world, { room: memberships.room, guest, sessionId, known, at });
  return isShared ? memberships.joinedAfter(userId, at) ?? at : at;
}

/** What devices have read, as the server could show it once more. */
function copiesOf(world: World, room: WorldRoom): Try[] {
  return secretsOf(world, room).flatMap(({ message }) => {
    const copy = { ...message, room_id: room.id, event_id: `${message.event_id}-again` };
    const event = copy as unknown as MessageEvent;
    return world.devices.filter((device) =>
      device.isRunning && device.readings.has(message.event_id) && !device.loss.isSuffered
    ).map((device) => ({ device, event, why: "it has read that as another event" }));
  });
}

function triesOf(world: World, room: WorldRoom): Try[] {
  const memberships = new Memberships(world.homeserver, room.id);
  return secretsOf(world, room).flatMap(({ message, author, known }) => {
    const event = { ...message, room_id: room.id } as unknown as MessageEvent;
    const at = message.origin_server_ts;
    return world.devices.flatMap((device) => {
      if (device === author || !device.isRunning || !device.account.encrypts) return [];
      if (world.setback?.isMistaken({ room: room.id, author, reader: device, known }) === true) return [];
      const sessionId = message.content.session_id;
      if (mayBeShared(world, { room: room.id, guest: device.account, sessionId, known, at })) return [];
      if (memberships.absent(device.userId, known, at)) return [{ device, event, why: "its user had left" }];
      // What its user's devices were given is in their backup, for which it has the key by now.
      const isBackedUp = device.account.recoveryKey !== undefined &&
        device.account.devices.some(({ keysAt }) => keysAt <= at);
      return device.keysAt > at && !isBackedUp ? [{ device, event, why: "it came later" }] : [];
    });
  });
}
