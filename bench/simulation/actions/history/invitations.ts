/**
 * Members who share the history of a room with whom they invite, and what goes wrong with that.
 *
 * @module
 */

import { describe } from "../../../kill/answering.ts";
import type { Client } from "@greenroom/matrix";
import type { Account } from "../../world/account.ts";
import type { Device } from "../../world/device.ts";
import type { SharedHistory } from "../../world/history.ts";
import type { Weather } from "../../world/network.ts";
import { HISTORY_COMMITS } from "../../world/operations.ts";
import type { Fault } from "../../world/process.ts";
import type { World, WorldRoom } from "../../world/world.ts";
import { Memberships } from "../../judge/memberships.ts";
import { type ActionKind, chosen } from "../action.ts";
import { MOST_DEVICES } from "../everyday.ts";

/** How long what is said takes to arrive, in milliseconds. */
export const SOON = 10_000;
/** By when a new user is ready, in milliseconds. */
export const READY = 60_000;
/** How long a call is waited for, in milliseconds; it may go on longer. */
const LONGEST_CALL = 100_000;
/** How often a member invites again whose process ended. */
const MOST_TRIES = 3;

/** Who takes part when history is shared. */
type Role = "sharer" | "guest";
/** Where sharing breaks off, by who does that. */
const PLACES: Readonly<Record<Role, readonly (readonly [Fault["operation"], string])[]>> = {
  sharer: [
    ["request", "POST media/v3/upload"],
    ["request", "POST v3/keys/claim"],
    ["request", "POST v3/keys/query"],
    ["request", "PUT v3/sendToDevice/m.room.encrypted"],
    ["request", "POST v3/rooms/*/invite"],
    ["commit", "outbox"],
  ],
  guest: [
    ...HISTORY_COMMITS.map((name) => ["commit", name] as const),
    ["request", "GET v1/media/download/*"],
    ["request", "POST v3/keys/query"],
    ["request", "POST v3/join/*"],
    ["commit", "inbound"],
  ],
};

/** What becomes of requests on their way, and of which. */
const WEATHER = ["lost", "lost after", "twice", "late", "late answer", "429", "502", "500"] as const;
const PATHS: Readonly<Record<Role, readonly string[]>> = {
  sharer: ["/media/v3/upload", "/keys/claim", "/keys/query", "/sendToDevice/", "/invite"],
  guest: ["/media/download/", "/keys/query", "/join/"],
};

/** Has something go wrong with what a device does to share history, or to take it. */
function breakOff(
  world: World,
  device: Device,
  { role, where, what }: { readonly role: Role; readonly where: number; readonly what: number },
): void {
  if (where % 2 === 0) {
    const [operation, subject] = chosen(PLACES[role], what) ?? ["request", "POST v3/keys/claim"];
    const kind = (where >> 1) % 3 < 2 ? "crash" : "error";
    const after = (what >> 7) % 4 === 3 ? 1 : 0; // most of it is done once
    device.process?.plan({ operation, subject, kind, takesEffect: (where >> 3) % 2 === 0, after });
    return world.note(`${device.name}: ${kind} planned for "${subject}"`);
  }
  const kind = chosen(WEATHER, where >> 1) ?? "502";
  const weather: Weather = {
    kind,
    path: chosen(PATHS[role], what) ?? "",
    times: 1 + (what >> 6) % 3,
    ms: kind === "429" ? 2_000 : 20_000,
  };
  world.network.weather.getOrInsertComputed(device, () => []).push({ ...weather });
  world.note(`${device.name}: the next ${weather.times} requests of "${weather.path}" are ${kind}`);
}

/**
 * A user who is in no room, has a device, and lets others know whose that is.
 *
 * @param options.isStrict Whether the device believes devices alone that their users vouch for.
 */
export async function newGuest(
  world: World,
  { isStrict = false }: { readonly isStrict?: boolean } = {},
): Promise<Account | undefined> {
  if (world.devices.length >= MOST_DEVICES) return undefined;
  const account = world.addAccount({ isBot: false });
  const device = await world.addDevice(account);
  device.isStrict = isStrict;
  device.start();
  await world.until(() => device.signedAt < Infinity, READY);
  return account;
}

/** Who may be invited: who is not there, or somebody new, or who is thrown out first. */
export async function findGuest(
  world: World,
  { sharer, room, what }: { readonly sharer: Device; readonly room: WorldRoom; readonly what: number },
): Promise<Account | undefined> {
  const memberships = new Memberships(world.homeserver, room.id);
  const { now } = world.timeline;
  const others = world.accounts.filter((account) =>
    account !== sharer.account && account !== world.accounts[0] && account.encrypts
  );
  const away = others.filter(({ userId }) => !["join", "invite"].includes(memberships.at(userId, now)));
  const isNew = what % 3 === 0;
  if (!isNew && away.length > 0) return chosen(away, what >> 2);
  const fresh = isNew || others.length === 0 ? await newGuest(world) : undefined;
  const guest = fresh ?? chosen(others, what >> 2);
  const [creator] = world.accounts;
  if (guest === undefined || fresh !== undefined || creator === undefined) return guest;
  const path = `v3/rooms/${encodeURIComponent(room.id)}/kick`;
  await world.ask(await creator.token(), "POST", path, { user_id: guest.userId });
  world.note(`${guest.userId} is thrown out of room ${world.rooms.indexOf(room) + 1}, to be invited again`);
  return guest;
}

/** Has others say something that a guest is not there for. */
export async function talk(world: World, room: WorldRoom, guest: Account): Promise<void> {
  await world.timeline.pass(SOON);
  const memberships = new Memberships(world.homeserver, room.id);
  for (const device of world.devices) {
    if (device.account === guest || device.account.isBot || !device.isRunning) continue;
    if (memberships.at(device.userId, world.timeline.now) === "join") world.say(device, room);
  }
  await world.timeline.pass(SOON);
}

/** Has a device's client do something that shares history; whether its process has not ended meanwhile. */
export async function share(
  world: World,
  { sharer, room, guest }: Pick<SharedHistory, "sharer" | "room" | "guest">,
  call: (client: Client) => Promise<unknown> | undefined,
): Promise<boolean> {
  const { client, process } = sharer;
  if (client === undefined || process?.isAlive !== true) return false;
  const shared: SharedHistory = {
    ...{ sharer, room, guest, at: world.timeline.now, endedAt: Infinity, outcome: undefined },
    had: new Set([...await sharer.disk.sessions()].filter((session) => session.startsWith(`${room} `))),
    read: new Set(sharer.readings.keys()),
    ignoredBy: new Set(),
    given: new Set(),
  };
  world.shares.push(shared);
  const end = (): void => void (shared.endedAt = Math.min(shared.endedAt, world.timeline.now));
  Promise.resolve(call(client)).then(
    (result) => world.note(`${sharer.name} has shared: ${JSON.stringify(result ?? "and invited")}`),
    (error) => world.note(`${sharer.name} can't invite ${guest.userId}: ${describe(error)}`),
  ).finally(end);
  process.ended.then(end);
  await world.until(() => shared.endedAt < Infinity || process.isPaused, LONGEST_CALL);
  return process.isAlive;
}

/** Has a member invite somebody, and again when the process ends meanwhile; whether that was done. */
export async function invite(
  world: World,
  { sharer, room, guest }: { readonly sharer: Device; readonly room: WorldRoom; readonly guest: Account },
): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    world.note(`${sharer.name} invites ${guest.userId} to room ${world.rooms.indexOf(room) + 1}`);
    const call = (client: Client) => client.inviteUser(room.id, guest.userId);
    if (await share(world, { sharer, room: room.id, guest }, call)) return true;
    if (!await world.until(() => sharer.isRunning && !sharer.process?.isPaused, READY)) return false;
  }
  return false;
}

/** Has the creator of a room say who reads its history. */
export async function show(world: World, room: WorldRoom, history_visibility: string): Promise<void> {
  const [creator] = world.accounts;
  if (creator === undefined) return;
  const path = `v3/rooms/${encodeURIComponent(room.id)}/state/m.room.history_visibility`;
  await world.ask(await creator.token(), "PUT", path, { history_visibility });
  world.note(`the history of room ${world.rooms.indexOf(room) + 1} is ${history_visibility}`);
  await world.timeline.pass(SOON / 10);
}

/** Members who may share; none in a room in clear. */
export function sharersIn(world: World, room: WorldRoom): Device[] {
  if (room.encryptedAt === Infinity) return [];
  const memberships = new Memberships(world.homeserver, room.id);
  return world.devices.filter(({ userId, account, isRunning, process, recoveryKey, kit }) =>
    isRunning && !process?.isPaused && account.encrypts && recoveryKey !== undefined && kit === undefined &&
    memberships.at(userId, world.timeline.now) === "join"
  );
}

/** The kinds. */
export const history: readonly ActionKind[] = [
  {
    name: "a member invites somebody, and shares the history",
    weight: 14,
    isOfHistory: true,
    async perform({ world, room, action: { who, where, what } }) {
      const sharer = chosen(sharersIn(world, room), who);
      if (sharer === undefined) return;
      const guest = await findGuest(world, { sharer, room, what });
      if (guest === undefined) return;
      if (what % 2 === 0) await talk(world, room, guest);
      const isHit = what % 5 > 1;
      if (isHit) {
        const guests = guest.devices.filter(({ isRunning }) => isRunning);
        const victim = chosen([sharer, ...guests], where) ?? sharer;
        const role = victim === sharer ? "sharer" : "guest";
        breakOff(world, victim, { role, where: where >> 1, what: what * 7 + who });
      }
      await invite(world, { sharer, room, guest });
    },
  },
  {
    name: "a fault in what sharing history needs",
    weight: 8,
    isOfHistory: true,
    perform({ world, device, action: { who, where, what } }) {
      breakOff(world, device, { role: (who >> 3) % 2 === 0 ? "sharer" : "guest", where, what });
    },
  },
  {
    name: "a room shows its history to nobody who comes later, or does again",
    weight: 4,
    isOfHistory: true,
    async perform({ world, room, action: { what } }) {
      await show(world, room, chosen(["joined", "shared", "invited", "world_readable"], what) ?? "shared");
    },
  },
];
