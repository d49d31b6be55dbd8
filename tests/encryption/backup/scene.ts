/** Clients with a backup of room keys. */

import { assert } from "@std/assert";
import type { Client, ClientOptions } from "@greenroom/matrix";
import type { Fault, FaultMatch } from "@greenroom/matrix/testing";
import type { KeyBackup, OpenSecretStorage } from "@greenroom/matrix/types";
import type { ClientStage } from "../../client/support/stage.ts";
import { device, type DeviceOptions, KEY, patiently } from "../identity/scene.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** The secret that holds the key of the backup. */
export const SECRET = "m.megolm_backup.v1";

/** The backup of a client. */
export function backupOf({ crypto }: Client): KeyBackup {
  assert(crypto);
  return crypto.backup;
}

/** A client of Alice's with a secret storage. */
export async function withStorage(
  stage: ClientStage,
  options: Partial<ClientOptions> = {},
): Promise<{ client: Client; storage: OpenSecretStorage }> {
  const client = stage.client("alice", { encryption: EVERYBODY, ...options });
  const { recoveryKey } = await client.secretStorage.create({ onRecoveryKey() {} });
  return { client, storage: await client.secretStorage.open({ recoveryKey }) };
}

/** Another device of a user, Alice unless it is named. */
export async function newDevice(
  stage: ClientStage,
  { name = "alice", ...options }: Partial<ClientOptions> & { readonly name?: string } = {},
): Promise<Client> {
  const client = stage.client(name, { encryption: EVERYBODY, accessToken: "", ...options });
  await client.login({ identifier: `@${name}:localhost`, password: `password of ${name}` });
  return client;
}

/** A device of Alice that is started with the recovery key. */
export async function started(
  here: ClientStage,
  deviceId: string,
  options: DeviceOptions = {},
): Promise<Client> {
  const client = await device(here, deviceId, { encryption: { recoveryKey: KEY }, ...options });
  await patiently(here, client.crypto?.start());
  return client;
}

/** What a start has made of the backup. */
export async function outcomeOf(here: ClientStage, client: Client): Promise<string | undefined> {
  return (await patiently(here, client.crypto?.ensureVerified()))?.backup;
}

/** A device with a storage, and no backup yet. */
export async function before(here: ClientStage): Promise<{ client: Client; storage: OpenSecretStorage }> {
  const client = await device(here, "EARLY", { encryption: { recoveryKey: KEY, backup: false } });
  await client.crypto?.start();
  return { client, storage: await client.secretStorage.open({ recoveryKey: KEY }) };
}

/** Has the server say that there is nothing of a kind, until that is disposed of. */
export function hidden(here: ClientStage, match: FaultMatch, times = Infinity): Fault {
  const body = { errcode: "M_NOT_FOUND", error: "None" };
  return here.homeserver.faults.add({ kind: "status", status: 404, body, match, times });
}

/** Hides the backup from a device until it has noticed, when it backs up what it does. */
export async function lost(here: ClientStage, client: Client, work: Promise<unknown>): Promise<void> {
  using _version = hidden(here, { method: "GET", path: "/room_keys/version" });
  using _keys = hidden(here, { method: "PUT", path: "/room_keys/keys" });
  await work;
  const { log: { lines } } = here;
  const hasNoticed = () =>
    lines.some(([, message]) => message.startsWith("The backup of room keys was deleted"));
  for (let round = 0; round < 10 && !hasNoticed(); round++) await client.crypto?.idle();
}
