/**
 * Users who have a recovery key: devices with it, without it and with a wrong one, backups that are
 * replaced, and identities.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import { OwnIdentityError, SecretStorageError } from "@greenroom/matrix/errors";
import { BACKUP_SECRET } from "../../../src/crypto/backup/backup.ts";
import { encodeRecoveryKey } from "../../../src/crypto/secrets/secrets.ts";
import type { Account } from "../world/account.ts";
import type { Device } from "../world/device.ts";
import { planFault } from "../world/trust_faults.ts";
import type { World } from "../world/world.ts";
import { MOST_DEVICES } from "./everyday.ts";
import { type ActionKind, chosen } from "./action.ts";
import { verify } from "./verification.ts";

/** By when a process has ended whose recovery key is wrong, in milliseconds. */
const REFUSAL = 120_000;
/** For how long a user is without a backup at most, in units of 5 seconds. */
const UNBACKED = 8;
/** How often a backup is replaced once more that could not be, and how long after, in milliseconds. */
const [MOST_TRIES, INSISTENCE] = [5, 10_000];

/** Whether a user's identity is there, so that something can be done with it. */
function isReady({ recoveryKey, master }: Account): boolean {
  return recoveryKey !== undefined && master !== undefined;
}

/** Replaces the backup of a user, as a person does who was asked to. */
async function replaceBackup(world: World, client: Client, { account }: Device, what: number): Promise<void> {
  const { recoveryKey = "" } = account;
  const begun = account.replaces(); // a process that ends meanwhile may not be followed by one that ends it
  using storage = await client.secretStorage.open({ recoveryKey });
  const backup = client.crypto?.backup;
  if (what % 3 === 0) {
    await backup?.reset({ storage });
  } else if (what % 3 === 1) {
    const token = await account.token();
    const { version } = await world.ask(token, "GET", "v3/room_keys/version");
    await world.ask(token, "DELETE", `v3/room_keys/version/${version}`);
    account.isBackupDeleted = true;
    world.note(`the backup ${version} of ${account.userId} is deleted`);
    await world.timeline.clock().delay((what >> 2) % UNBACKED * 5_000);
    await backup?.create({ storage });
  } else {
    account.isUnbacked = true; // to clients that start, until there is a new one
    await backup?.delete();
    await world.timeline.clock().delay((what >> 2) % UNBACKED * 5_000);
    await backup?.create({ storage });
    account.isUnbacked = false;
    account.isBackupDeleted = true; // to clients that started meanwhile
  }
  account.hasReplaced(begun);
  if (await storage.get(BACKUP_SECRET) === undefined) world.violate(`the key of a new backup is nowhere`);
  world.reach("trust: the backup was replaced");
}

/** Replaces it once more after a failure, as `reset()` says, while the process is there. */
async function insist(world: World, client: Client, device: Device): Promise<void> {
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    await world.timeline.clock().delay(INSISTENCE);
    const begun = device.account.replaces();
    if (!device.isRunning || device.client !== client) return; // the next start with the key ends it
    try {
      using storage = await client.secretStorage.open({ recoveryKey: device.account.recoveryKey ?? "" });
      await client.crypto?.backup.reset({ storage });
      device.account.hasReplaced(begun);
      return world.reach("trust: the backup was replaced by another try");
    } catch (error) {
      world.note(`${device.name} can't replace the backup: ${error}`);
    }
  }
}

/** Has a device that has no recovery key be verified by another of its user, or verify that. */
function verifyNovice(world: World, novice: Device, what: number): void {
  const others = novice.account.devices.filter(({ isRunning, signedAt }) => isRunning && signedAt < Infinity);
  const other = chosen(others, what >> 1);
  if (other === undefined || !novice.isRunning) return;
  const [one, two] = what % 2 === 0 ? [novice, other] : [other, novice];
  world.note(`${one.name} asks ${two.name} for a verification, of one user`);
  verify(world, one, two).then(
    () => world.reach("trust: an own device was verified"),
    (error) => world.note(`${one.name} and ${two.name} have not verified each other: ${error}`),
  );
}

/** The kinds. */
export const trust: readonly ActionKind[] = [
  {
    name: "a fault in what trust needs",
    weight: 12,
    isOfTrust: true,
    perform({ world, device, action: { where, what } }) {
      if (device.recoveryKey === undefined) return;
      const subject = planFault(device, where, what);
      world.note(`${device.name}: ${subject} is to fail`);
    },
  },
  {
    name: "a device is added, which has only the recovery key",
    weight: 4,
    isOfTrust: true,
    async perform({ world, device: { account }, action: { where, what } }) {
      if (account.isBot || !isReady(account) || world.devices.length >= MOST_DEVICES) return;
      const added = await world.addDevice(account);
      added.start();
      if (where % 4 > 0) planFault(added, where, what);
    },
  },
  {
    name: "a device is added without the recovery key",
    weight: 3,
    isOfTrust: true,
    async perform({ world, device: { account }, action: { what } }) {
      if (account.isBot || !isReady(account) || world.devices.length >= MOST_DEVICES) return;
      const novice = await world.addDevice(account, { hasKey: false });
      novice.start();
      if (what % 3 === 0) return; // it is given the key later, or is left as it is
      const soon = 5_000 * (1 + what % 8);
      world.timeline.schedule(soon, "", () => verifyNovice(world, novice, what >> 3));
    },
  },
  {
    name: "a device without the key is verified by another",
    weight: 6,
    isOfTrust: true,
    perform({ world, action: { what } }) {
      const novices = world.devices.filter(({ account, hasKey, isRunning, signedAt }) =>
        !hasKey && isRunning && isReady(account) && signedAt === Infinity
      );
      const novice = chosen(novices, what);
      if (novice !== undefined) verifyNovice(world, novice, what);
    },
  },
  {
    name: "a device is given the recovery key later",
    weight: 3,
    isOfTrust: true,
    async perform({ world, action: { where, what } }) {
      const novice = chosen(
        world.devices.filter(({ account, hasKey, goneAt, publishedAt, process }) =>
          !hasKey && goneAt === Infinity && publishedAt < Infinity && isReady(account) && !process?.isPaused
        ),
        what,
      );
      if (novice === undefined) return;
      world.note(`${novice.name} is given the recovery key`);
      await novice.stop();
      novice.hasKey = true;
      novice.start();
      if (where % 2 > 0) planFault(novice, where >> 1, what);
    },
  },
  {
    name: "a device is added with a wrong recovery key",
    weight: 2,
    isOfTrust: true,
    async perform({ world, device: { account }, action: { where, what } }) {
      if (account.isBot || !isReady(account) || world.devices.length >= MOST_DEVICES) return;
      const device = await world.addDevice(account, { hasKey: false });
      device.goneAt = world.timeline.now; // nobody is to send it anything
      const recoveryKey = encodeRecoveryKey(
        world.chance.branch(`wrong key ${where} ${what}`).fill(new Uint8Array(32)),
      );
      const { process, client } = device.begin({ recoveryKey });
      world.note(`${device.name} is started with a wrong recovery key`);
      process.excuse = [SecretStorageError, OwnIdentityError];
      client.start().catch(() => {}); // `done` says why
      world.timeline.schedule(REFUSAL, "", () => {
        if (device.signedAt < Infinity) world.violate(`${device.name} is signed, with a wrong recovery key`);
        world.reach("trust: a wrong recovery key was given");
        process.kill();
      });
    },
  },
  {
    name: "plants a backup",
    weight: 1,
    isOfTrust: true,
    async perform({ world, device: { account }, action: { where, what } }) {
      if (!isReady(account) || account.planted !== undefined) return;
      const key = world.chance.branch(`planted ${where} ${what}`).fill(new Uint8Array(32)).toBase64();
      const { version } = await world.ask(await account.token(), "POST", "v3/room_keys/version", {
        algorithm: "m.megolm_backup.v1.curve25519-aes-sha2",
        auth_data: { public_key: key.replace(/=+$/, "") },
      });
      if (typeof version !== "string") return;
      world.reach("threat: T51");
      world.note(`T51: who has a token of ${account.userId} makes the backup ${version}`);
      account.planted = version;
    },
  },
  {
    name: "a user replaces the backup",
    weight: 3,
    isOfTrust: true,
    perform({ world, device, action: { where, what } }) {
      const { account, client, recoveryKey, isRunning, process } = device;
      if (!isReady(account) || recoveryKey === undefined || client === undefined) return;
      if (account.planted !== undefined) return; // the user would have to know which one to delete
      if (!isRunning || process?.isPaused === true) return;
      world.note(`${device.name} replaces the backup of ${account.userId}`);
      if (where % 3 === 0) planFault(device, where, what);
      replaceBackup(world, client, device, what).catch((error) => {
        world.note(`${device.name} can't replace the backup: ${error}`);
        return insist(world, client, device);
      });
    },
  },
];
