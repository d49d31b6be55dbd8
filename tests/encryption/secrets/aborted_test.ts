import type { Client } from "@greenroom/matrix";
import type { OpenSecretStorage } from "@greenroom/matrix/types";
import { type AbortOptions, assertAbortable } from "../../client/support/aborted.ts";
import { filled, forget } from "./scene.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

const NEW = { recoveryKey: recoveryKeyOf(7), onRecoveryKey: forget };
const NAME = "com.example.token";

const CALLS: Record<
  string,
  (client: Client, key: { recoveryKey: string }, options: AbortOptions) => Promise<unknown>
> = {
  info: ({ secretStorage }, _key, options) => secretStorage.info(options),
  reset: ({ secretStorage }, _key, options) => secretStorage.reset({ ...options, ...NEW }),
  open: ({ secretStorage }, key, options) => secretStorage.open(key, options),
  changeKey: ({ secretStorage }, key, options) => secretStorage.changeKey(key, { ...options, ...NEW }),
};

const OPEN_CALLS: Record<string, (storage: OpenSecretStorage, options: AbortOptions) => Promise<unknown>> = {
  get: (storage, options) => storage.get(NAME, options),
  set: (storage, options) => storage.set(NAME, "hunter3", options),
  delete: (storage, options) => storage.delete(NAME, options),
  names: (storage, options) => storage.names(options),
};

Deno.test("A call of the secret storage ends at whatever request it is when it is aborted", async () => {
  await assertAbortable("create", async (here, fetch) => {
    const client = here.client("alice", { fetch });
    await client.whoami();
    return (options) => client.secretStorage.create({ ...options, ...NEW });
  });
  for (const [name, call] of Object.entries(CALLS)) {
    await assertAbortable(name, async (here, fetch) => {
      const client = here.client("alice", { fetch });
      const key = await filled(client);
      return (options) => call(client, key, options);
    });
  }
  for (const [name, call] of Object.entries(OPEN_CALLS)) {
    await assertAbortable(name, async (here, fetch) => {
      const client = here.client("alice", { fetch });
      const storage = await client.secretStorage.open(await filled(client));
      return (options) => call(storage, options);
    });
  }
});
