/**
 * Users with a recovery key: their devices are signed, what those can read is in the backup, and who
 * has nothing but the key can read it; and no private key was ever shown to anybody.
 *
 * @module
 */

import type { MessageEvent, UserID } from "@greenroom/matrix/types";
import type { JsonObject } from "../../../src/types/json.ts";
import { checkSignature, ed25519KeyOf } from "../../../src/testing/json/json.ts";
import type { Account } from "../world/account.ts";
import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";
import { isOfNobody } from "./judge_inheritance.ts";
import { Memberships } from "./memberships.ts";
import { soon } from "./soon.ts";

/**
 * How long it may take until all is signed and backed up, in milliseconds: longer than waits after failures.
 */
const PATIENCE = 2 * 3_600_000;
/** How many messages a device with an empty store reads, at most. */
const MOST_READ = 12;
/** What is secret beside the recovery key. */
const SECRETS = [
  ...["m.cross_signing.master", "m.cross_signing.self_signing", "m.cross_signing.user_signing"],
  "m.megolm_backup.v1",
];

/** Judges all users who have a recovery key; one of them has a device that has nothing but that. */
export async function judgeTrust(world: World): Promise<void> {
  const backedUp: { readonly account: Account; readonly devices: readonly Device[] }[] = [];
  for (const account of world.accounts) {
    const devices = account.devices.filter(({ goneAt, isRunning, recoveryKey }) =>
      goneAt === Infinity && isRunning && recoveryKey !== undefined
    );
    if (devices.length === 0) continue;
    if (!account.isMisshown) await judgeSigned(world, account, devices);
    if (account.planted !== undefined) await judgePlanted(world, account, account.planted);
    // With an identity the server has forgotten the secret storage, without which no backup is made.
    if (account.isForgotten || account.isUnbacked || await isInTheWay(world, account)) continue;
    if (await isReused(world, account)) continue;
    await judgeBackup(world, account, devices);
    backedUp.push({ account, devices });
  }
  if (backedUp.length === 0) return;
  const { account, devices } = world.chance.pick(backedUp);
  await judgeRestored(world, account, devices);
}

/** Whether the backup that the server has is one that somebody else has made. */
async function isInTheWay(world: World, account: Account): Promise<boolean> {
  if (account.planted === undefined) return false;
  const { version } = await world.ask(await account.token(), "GET", "v3/room_keys/version");
  return version === account.planted;
}

/**
 * Whether the backup has the number of one that the server has forgotten: what a device that had that
 * puts there is for another key, and nothing in the server's answers tells it; or is one that its devices had
 * left for that, which they follow only when their user says so.
 */
async function isReused(world: World, account: Account): Promise<boolean> {
  if (account.forgottenBackup === undefined) return false;
  const { version } = await world.ask(await account.token(), "GET", "v3/room_keys/version");
  const isLeft = Number(version) < Number(account.forgottenBackup);
  if (version !== account.forgottenBackup && !isLeft) return false;
  const what = isLeft
    ? "a backup is there again that was left"
    : "a backup has the number of one that was forgotten";
  world.reach(`excused, since the server was set back: ${what}`);
  return true;
}

/** What the server shows of a user's keys. */
interface ShownKeys {
  readonly device_keys: Record<string, Record<string, JsonObject>>;
  readonly master_keys?: Record<string, JsonObject>;
  readonly self_signing_keys?: Record<string, JsonObject>;
}

/**
 * Each device of a user is signed by the identity that is published, which is the one that was made; whether
 * there is one.
 *
 * @param token Of whoever asks.
 */
export async function judgeSignatures(
  world: World,
  token: string,
  { userId, master: made, devices }: {
    readonly userId: UserID;
    readonly master: string | undefined;
    readonly devices: readonly { readonly name: string; readonly deviceId: string }[];
  },
): Promise<boolean> {
  const { device_keys, master_keys = {}, self_signing_keys = {} } = await world.ask(
    token,
    "POST",
    "v3/keys/query",
    { device_keys: { [userId]: [] } },
  ) as unknown as ShownKeys;
  const [master, selfSigning] = [master_keys[userId], self_signing_keys[userId]];
  if (master === undefined || selfSigning === undefined) {
    world.violate(`${userId} has a recovery key, and no identity`);
    return false;
  }
  const { id: masterId, key: masterKey } = ed25519KeyOf(master);
  if (masterKey !== made) world.violate(`${userId} has the identity ${masterKey}, which nobody made`);
  const { id, key } = ed25519KeyOf(selfSigning);
  const problem = (what: string) => () => world.violate(`${what} is not signed by the identity of ${userId}`);
  await checkSignature(selfSigning, userId, masterId, masterKey).catch(problem("the self-signing key"));
  for (const { name, deviceId } of devices) {
    const keys = device_keys[userId]?.[deviceId] ?? {};
    await checkSignature(keys, userId, id, key).catch(problem(name));
  }
  return true;
}

/** Each device is signed by the identity that is published, and knows it for the user's. */
async function judgeSigned(world: World, account: Account, devices: readonly Device[]): Promise<void> {
  const { userId, master } = account;
  if (!await judgeSignatures(world, await account.token(), { userId, master, devices })) return;
  for (const { name, client } of devices) {
    const own = await soon(world, client?.crypto?.getIdentity(userId));
    if (own?.isVerified !== true || own.master !== master) {
      world.violate(`${name} does not take the identity of ${userId} for its user's: ${JSON.stringify(own)}`);
    }
    world.reach("trust: a device is signed in the end");
  }
}

/** The backup has all sessions that the devices have. */
async function judgeBackup(world: World, account: Account, devices: readonly Device[]): Promise<void> {
  const missing = async (): Promise<string[]> => {
    const there = await sessionsOf(world, account);
    const sessions = await Promise.all(devices.map(({ disk }) => disk.sessions()));
    return devices.flatMap(({ name }, index) =>
      [...sessions[index] ?? []].filter((session) =>
        !there.has(session) && !world.setback?.isUnbacked(session)
      ).map((each) => `${each} of ${name}`)
    );
  };
  if (account.isBackupDeleted || account.hasToReplaceBackup) {
    await putNewKeys(world, devices);
    if (account.hasToReplaceBackup) await replaceBackup(world, account, devices);
    for (const { client } of devices) await soon(world, client?.crypto?.ensureVerified());
  }
  for (const { client, isWarned } of devices) {
    if (isWarned) await soon(world, client?.crypto?.ensureVerified()); // the next start would do it
  }
  const end = world.timeline.now + PATIENCE;
  let left = await missing();
  while (left.length > 0 && world.timeline.now < end) {
    await world.timeline.pass(60_000);
    left = await missing();
  }
  if (left.length > 0) world.violate(`the backup of ${account.userId} does not have ${left.join(", ")}`);
}

/**
 * Each device has a new key for the backup: who has nothing to put into it does not notice that it is gone.
 */
async function putNewKeys(world: World, devices: readonly Device[]): Promise<void> {
  const room = world.rooms.find(({ encryptedAt }) => encryptedAt < Infinity)?.id;
  if (room === undefined) return;
  for (const { client } of devices) {
    await soon(world, client?.crypto?.discardGroupSession(room));
    await soon(world, client?.crypto?.shareGroupSession(room));
    await soon(world, client?.crypto?.idle());
  }
}

/** Replaces the backup, as its user tries again who was told that it failed, unless a start has ended it. */
async function replaceBackup(world: World, account: Account, [device]: readonly Device[]): Promise<void> {
  const { client } = device ?? {};
  if (client === undefined || (await soon(world, client.crypto?.ensureVerified()))?.backup === "on") return;
  using storage = await soon(world, client.secretStorage.open({ recoveryKey: account.recoveryKey ?? "" }));
  if (storage !== undefined) await soon(world, client.crypto?.backup.reset({ storage }));
  world.reach("trust: the backup was replaced by a later try");
}

/** Nobody gives keys to a backup that somebody else has made. */
async function judgePlanted(world: World, account: Account, version: string): Promise<void> {
  const there = await sessionsOf(world, account, version);
  if (there.size > 0) {
    world.violate(`the backup that was planted for ${account.userId} has ${there.size} keys`);
  }
}

/** The rooms and IDs of the sessions in the backup of a user: the latest version, or another. */
async function sessionsOf(world: World, account: Account, of?: string): Promise<ReadonlySet<string>> {
  const token = await account.token();
  const { version } = of === undefined
    ? await world.ask(token, "GET", "v3/room_keys/version")
    : { version: of };
  const { rooms = {} } = await world.ask(token, "GET", `v3/room_keys/keys?version=${version}`) as {
    rooms?: Record<string, { sessions: Record<string, unknown> }>;
  };
  return new Set(
    Object.entries(rooms).flatMap(([room, { sessions }]) =>
      Object.keys(sessions).map((session) => `${room} ${session}`)
    ),
  );
}

/** A device that has nothing but the recovery key reads what the others can. */
async function judgeRestored(world: World, account: Account, devices: readonly Device[]): Promise<void> {
  const readings = new Map<string, string>();
  const sessions = await Promise.all(devices.map(({ disk }) => disk.sessions()));
  const events = world.rooms.flatMap(({ id }) => {
    const memberships = new Memberships(world.homeserver, id);
    return world.homeserver.room(id).messages.flatMap((message) => {
      const { event_id, type, content } = message;
      const author = world.devices.find(({ deviceId }) => deviceId === content.device_id);
      if (author !== undefined && isOfNobody(world, { author }, memberships)) return [];
      const body = devices.map((device, index) =>
        sessions[index]?.has(`${id} ${content.session_id}`) ? device.readings.get(event_id) : undefined
      ).find((text) => text !== undefined);
      if (type !== "m.room.encrypted" || body === undefined) return [];
      if (world.setback?.isUnbacked(`${id} ${content.session_id}`) === true) return [];
      readings.set(event_id, body);
      return [{ ...message, room_id: id } as unknown as MessageEvent];
    });
  });
  const fresh = await world.addDevice(account);
  world.note(`${fresh.name} has nothing but the recovery key of ${account.userId}`);
  const begun = world.timeline.now;
  const { client, process } = fresh.begin();
  const isStarted = await soon(world, client.crypto?.start().then(() => true));
  if (isStarted !== true) return world.violate(`${fresh.name} does not start with the recovery key`);
  // A key that came from its author itself is taken with what is known of that device.
  if (world.dehydrates) await soon(world, client.syncOnce(world.sync));
  for (const author of unfollowed(world, account, { events, begun })) {
    await soon(world, client.crypto?.getDevices(author));
  }
  const step = Math.ceil(events.length / MOST_READ);
  for (const event of events.filter((_, index) => index % step === 0)) {
    const decryption = await soon(world, client.crypto?.decrypt(event));
    const body = decryption && "event" in decryption ? decryption.event.content.body : decryption?.code;
    world.reach("trust: read with nothing but the recovery key");
    if (body !== readings.get(event.event_id)) {
      world.violate(
        `${fresh.name} reads ${event.event_id} as ${body}, not "${readings.get(event.event_id)}"`,
      );
    }
  }
  await judgeSecrets(world, account, client);
  await soon(world, client.close().then(() => true));
  process.kill();
}

/**
 * The authors of what was said in rooms that a user has left, or not joined before a new device of it begins:
 * that follows nobody there.
 */
function unfollowed(
  world: World,
  { userId }: Account,
  { events, begun }: { readonly events: readonly MessageEvent[]; readonly begun: number },
): ReadonlySet<UserID> {
  if (!world.isVouched || !world.dehydrates) return new Set(); // what the backup has needs nobody's word
  const left = new Set(
    world.rooms.filter(({ id }) => new Memberships(world.homeserver, id).at(userId, begun) !== "join")
      .map(({ id }) => id),
  );
  return new Set(events.filter(({ room_id }) => left.has(room_id)).map(({ sender }) => sender));
}

/** No secret was ever sent as it is. */
async function judgeSecrets(
  world: World,
  { userId, recoveryKey = "" }: Account,
  { secretStorage }: NonNullable<Device["client"]>,
): Promise<void> {
  using storage = await soon(world, secretStorage.open({ recoveryKey }));
  if (storage === undefined) return world.violate(`the recovery key of ${userId} opens nothing`);
  const secrets = [recoveryKey, recoveryKey.replaceAll(" ", "")];
  for (const name of SECRETS) {
    const secret = await soon(world, storage.get(name));
    if (secret === undefined) world.violate(`${name} of ${userId} is not in the secret storage`);
    else secrets.push(secret.replace(/=+$/, ""), Uint8Array.fromBase64(secret).toHex());
  }
  for (const { who, body } of world.wire.bodies) {
    if (secrets.some((secret) => body.includes(secret))) {
      world.violate(`${who} has sent a secret of ${userId} as it is`);
    }
  }
}
