/**
 * Sets the homeserver of a world back, as an administrator does who restores a backup of its database.
 *
 * @module
 */

import type { Account } from "../world/account.ts";
import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";
import { Setback } from "./setback.ts";

/**
 * How long the server is away before and after, in milliseconds: what it has answered has arrived by then.
 */
const AWAY = 1_000;

/** Whether the homeserver may be set back to a moment. */
export function maySetBack(world: World, to: number): boolean {
  const { rooms, accounts, devices, begunAt, service, reader, setback, awaited } = world;
  return setback === undefined && to >= begunAt && awaited === 0 &&
    world.placedAt < to - AWAY && // what comes in its place would never come
    // They are told things once, and what they then miss is not judged here.
    service === undefined && reader === undefined &&
    // Nothing tells a device to look again at an identity that the server made up, when that is forgotten.
    accounts.every(({ isMisshown }) => !isMisshown) &&
    // Half of a secret storage without its key looks as if the server hid the rest: a person has to look.
    accounts.every(({ recoveryKey, master }) => recoveryKey === undefined || master !== undefined) &&
    rooms.every(({ encryptedAt }) => encryptedAt === Infinity || encryptedAt <= to) &&
    devices.every(({ loss, fork }) => !loss.isSuffered && fork === undefined);
}

/** Sets it back to a moment. */
export async function setBack(world: World, to: number): Promise<void> {
  const { homeserver, network, timeline, reach, posts, backedUp } = world;
  network.restart(2 * AWAY);
  await timeline.pass(AWAY);
  const at = timeline.now;
  const versions = await backups(world);
  const forgotten = await homeserver.setBack(to);
  network.forgetTokens();
  const setback = new Setback({ to, at, homeserver, forgotten, reach });
  world.setback = setback;
  for (const post of posts) setback.posted(post);
  for (const { at: when, sessions } of backedUp) if (when > to) setback.noteUnbacked(sessions);
  await world.forgetOutsiders(to);
  for (const device of world.devices) if (device.goneAt === Infinity) await readmit(world, device, setback);
  for (const [account, version] of await backups(world)) {
    if (versions.get(account) === version) continue;
    account.isBackupDeleted = true;
    account.forgottenBackup = versions.get(account);
  }
  const events = world.rooms.reduce((sum, { id }) => sum + setback.events(id).length, 0);
  reach(`state: the server was set back, and has forgotten ${events === 0 ? "no" : "some"} events`);
  world.note(`the server is set back to ${to}, by ${at - to} ms: it has forgotten ${events} events`);
}

/** By user who has a recovery key, the version of the backup. */
async function backups(world: World): Promise<Map<Account, unknown>> {
  const versions = new Map<Account, unknown>();
  for (const account of world.accounts) {
    if (account.recoveryKey === undefined || account.devices.every(({ goneAt }) => goneAt < Infinity)) {
      continue;
    }
    const { version } = await world.ask(await account.token(), "GET", "v3/room_keys/version");
    versions.set(account, version);
  }
  return versions;
}

/** Has the author of a device log in again whose token the server does not know any more. */
async function readmit(world: World, device: Device, setback: Setback): Promise<void> {
  const { account, userId, deviceId, login, name } = device;
  const { errcode, soft_logout } = await world.ask(login.token, "GET", "v3/account/whoami");
  if (errcode === "M_UNKNOWN_TOKEN" && soft_logout !== true) {
    const fresh = await account.login({ deviceId });
    if (fresh.token === undefined) { // the server does not know its user
      device.goneAt = world.timeline.now;
      return;
    }
    device.login = fresh;
    world.reach("state: logged in again, since the server had forgotten a token");
    world.note(`${name} is logged in again`);
  }
  const { device_keys, master_keys = {} } = await world.ask(
    world.stranger.accessToken,
    "POST",
    "v3/keys/query",
    {
      device_keys: { [userId]: [] },
    },
  ) as {
    device_keys?: Record<string, Record<string, { signatures?: Record<string, object> }>>;
    master_keys?: Record<string, { keys: Record<string, string> }>;
  };
  const master = Object.values(master_keys[userId]?.keys ?? {})[0];
  if (account.master !== master) {
    account.isMisshown = account.isForgotten = true;
    account.master = master;
    world.reach("state: the server has forgotten an identity");
    world.note(`the server has forgotten the identity of ${userId}: it has ${master}`);
  }
  const keys = device_keys?.[userId]?.[deviceId];
  const signers = Object.keys(keys?.signatures?.[userId] ?? {}).length;
  if (device.publishedAt < Infinity && (keys === undefined || (device.signedAt < Infinity && signers < 2))) {
    setback.isBare(device);
    world.reach(`state: the server has forgotten a ${keys === undefined ? "device" : "signature"}`);
    world.note(`the server has forgotten the ${keys === undefined ? "keys" : "signature"} of ${name}`);
  }
}
