/**
 * The bot's account: a client of it with the store, as the bot itself has.
 *
 * @module
 */

import { Client, type ClientOptions, MatrixError, type Store } from "../../../mod.ts";
import type { UserID } from "../../../types.ts";
import { CliError, STATUS } from "../io/mod.ts";
import { needed, recoveryKeyOf, type Settings, textOf } from "./settings.ts";

/** A client that is closed with its store. */
interface Account extends AsyncDisposable {
  readonly client: Client;
}

/** The address of a homeserver, by its address or server name. */
export async function addressOf(given: string): Promise<string> {
  if (/^https?:\/\//i.test(given)) return given.replace(/\/+$/, "");
  try {
    const found = await Client.discover(given, { log: false });
    return (found ?? `https://${given}`).replace(/\/+$/, "");
  } catch (cause) {
    if (!(cause instanceof MatrixError)) throw cause;
    throw new CliError(
      `${cause.message}; check the user ID, or say where the homeserver is: --homeserver, or MATRIX_URL`,
      STATUS.UNREACHABLE,
      { cause },
    );
  }
}

/** The server name in a user ID. */
export function serverOf(user: string): string {
  return user.slice(user.indexOf(":") + 1);
}

/** A client without a store: for what only asks the homeserver, also while the bot runs. */
export async function openPlain(settings: Settings): Promise<Account> {
  return accountWith(await base(settings), undefined);
}

/**
 * A client with the store, which is encrypted.
 *
 * @throws {StoreInUseError} If the bot runs.
 */
export async function openEncrypted(
  settings: Settings,
  more: Partial<ClientOptions> = {},
): Promise<Account> {
  const options = await base(settings);
  const store = await openStore(needed(settings, "MATRIX_STORE"));
  return accountWith({
    ...options,
    store,
    lease: { held: "refuse", owner: "greenroom, the command line" },
    encryption: { recoveryKey: await recoveryKeyOf(settings) },
    ...more,
  }, store);
}

/** Opens the store in a file, of the same kind as a bot's. */
export async function openStore(path: string): Promise<Store & AsyncDisposable> {
  if (await wantsDenoKv()) {
    if (typeof (Deno as { openKv?: unknown }).openKv !== "function") {
      throw new CliError(
        "Cannot open the store: the bot's deno.json turns Deno KV on, and it is off here; run the command line with " +
          "--unstable-kv",
        STATUS.STORE,
      );
    }
    return await (await import("../../store/kv.ts")).KvStore.open(path);
  }
  return await (await import("../../store/sqlite.ts")).SqliteStore.open(path);
}

/** Whether bots of this folder get Deno KV; this process has the configuration of another folder, or none. */
async function wantsDenoKv(): Promise<boolean> {
  const text = await textOf("deno.json") ?? await textOf("deno.jsonc") ?? "";
  return /"unstable"\s*:\s*\[[^\]]*"kv"/.test(text);
}

async function base(settings: Settings): Promise<ClientOptions> {
  const { MATRIX_TOKEN: accessToken, MATRIX_PASSWORD: password } = settings;
  if (accessToken === undefined && password !== undefined) {
    throw new CliError(
      "Cannot use the bot's account: the bot logs in by MATRIX_PASSWORD; log in once by `greenroom login`, which " +
        "keeps a token in place of it",
      STATUS.NOT_LOGGED_IN,
    );
  }
  const token = needed(settings, "MATRIX_TOKEN");
  const mxid = settings.MATRIX_USER as UserID | undefined;
  const server = settings.MATRIX_URL ?? serverOf(needed(settings, "MATRIX_USER"));
  const baseUrl = await addressOf(server);
  return { mxid, baseUrl, accessToken: token, log: false, retry: { maxRetries: 1 } };
}

function accountWith(options: ClientOptions, store: AsyncDisposable | undefined): Account {
  const client = new Client(options);
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await store?.[Symbol.asyncDispose]();
    },
  };
}
