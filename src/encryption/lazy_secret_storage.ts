/**
 * Secret storage that is loaded when it is used.
 *
 * @module
 */

import type { SecretsAPI, SecretStorage } from "./secrets/secrets.ts";

/** Makes `client.secretStorage`. What it is made of is loaded with the first call. */
export function lazySecretStorage(api: SecretsAPI): SecretStorage {
  const loaded = async () => (await import("./secrets/secrets.ts")).secretOperations(api);
  return {
    info: async (options) => await (await loaded()).info(options),
    create: async (options) => await (await loaded()).create(options),
    reset: async (options) => await (await loaded()).reset(options),
    open: async (by, options) => await (await loaded()).open(by, options),
    changeKey: async (by, options) => await (await loaded()).changeKey(by, options),
  };
}
