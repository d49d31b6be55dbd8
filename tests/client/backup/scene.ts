/** Clients with a backup of room keys. */

import { assert } from "@std/assert";
import type { Client, ClientOptions } from "@greenroom/matrix";
import type { OpenSecretStorage } from "@greenroom/matrix/types";
import type { KeyBackup } from "../../../src/actors/crypto/key_backup.ts";
import type { ClientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

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
  const client = stage.client(name, { encryption: EVERYBODY, token: "", ...options });
  await client.login({ identifier: `@${name}:localhost`, password: `password of ${name}` });
  return client;
}
