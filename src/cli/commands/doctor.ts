/**
 * `greenroom doctor`: looks at settings, server, token, store and encryption, and changes nothing.
 *
 * @module
 */

import process from "node:process";
import { inspectDevice, listDevices } from "../../../mod.ts";
import type { CryptoFinding, CryptoFindingCode, UserID } from "../../../types.ts";
import { warningOfOthers } from "../../store/files/files.ts";
import { type Input, isStoreInUse, messageOf, statOf, STATUS } from "../io/mod.ts";
import {
  checkNamesOf,
  ENV_FILE,
  openEncrypted,
  openPlain,
  openStore,
  readSettings,
  type Settings,
} from "../project/mod.ts";

/** What was found of one thing. */
export interface Finding extends Pick<CryptoFinding, "level" | "message" | "mend"> {
  readonly code: string;
}

/** Looks at everything, in the order in which one thing needs the other. */
export async function run(input: Input): Promise<number> {
  return await report(examine(await readSettings()), input);
}

/** Prints what was found; returns the status of the process. */
export async function report(
  findings: AsyncIterable<Finding>,
  { flags, terminal }: Input,
): Promise<number> {
  let worst: number = STATUS.DONE;
  for await (const { level, code, message, mend } of findings) {
    if (level === "error") worst = STATUS.FINDINGS;
    if (flags.has("json")) {
      terminal.print(JSON.stringify({ level, code, message, mend }));
      continue;
    }
    terminal.print(`${terminal.style(level, level.padEnd(7))}  ${message}`);
    if (mend !== undefined && level !== "ok") terminal.print(`         → ${mend}`);
  }
  return worst;
}

async function* examine(settings: Settings): AsyncGenerator<Finding> {
  yield* settingsFindings(settings);
  const user = yield* accountFindings(settings);
  if (user === undefined) return;
  const isFree = yield* storeFindings(settings, user);
  if (isFree) yield* cryptoFindings(settings);
}

async function* settingsFindings(settings: Settings): AsyncGenerator<Finding> {
  const info = await statOf(ENV_FILE);
  if (info === undefined) {
    yield {
      level: "warning",
      code: "no-env-file",
      message: `There is no ${ENV_FILE} here`,
      mend: "Change to the bot's folder, or log in: greenroom login",
    };
  } else if (process.platform === "win32") {
    yield {
      level: "ok",
      code: "env-file",
      message: `${ENV_FILE} is here; who can read it is not known, since this system has no file modes`,
    };
  } else if ((info.mode & 0o077) !== 0) {
    yield {
      level: "warning",
      code: "env-file-open",
      message: `Others can read ${ENV_FILE}, which has the token`,
      mend: `chmod 600 ${ENV_FILE}`,
    };
  } else yield { level: "ok", code: "env-file", message: `Only you can read ${ENV_FILE}` };
  try {
    checkNamesOf(settings);
  } catch (error) {
    yield { level: "error", code: "variable-unknown", message: messageOf(error) };
  }
  const { MATRIX_STORE_KEY_FILE: keyFile } = settings;
  if (keyFile !== undefined && warningOfOthers([keyFile]) !== undefined) {
    yield {
      level: "warning",
      code: "key-file-open",
      message: `Others can read ${keyFile}, which has the key of the store`,
      mend: `chmod go= ${keyFile}`,
    };
  }
  for (const name of ["MATRIX_STORE", "MATRIX_RECOVERY_KEY_FILE"] as const) {
    if (
      settings[name] !== undefined || (name !== "MATRIX_STORE" && settings.MATRIX_RECOVERY_KEY !== undefined)
    ) continue;
    yield {
      level: "warning",
      code: "setting-missing",
      message: `${name} is not set`,
      mend: "Log in with greenroom login, which sets it",
    };
  }
}

/** Looks at server and token; returns whose it is. */
async function* accountFindings(
  settings: Settings,
): AsyncGenerator<Finding, { mxid: UserID; deviceId?: string } | undefined> {
  try {
    await using account = await openPlain(settings);
    const { client } = account;
    const { versions } = await client.versions();
    yield {
      level: "ok",
      code: "server",
      message: `${client.api.baseUrl} answers, and knows Matrix ${versions.at(-1)}`,
    };
    const { user_id, device_id } = await client.whoami();
    if (settings.MATRIX_USER !== undefined && settings.MATRIX_USER !== user_id) {
      yield {
        level: "error",
        code: "token-of-another",
        message: `The token is that of ${user_id}, and MATRIX_USER is ${settings.MATRIX_USER}`,
        mend: "Log in again: greenroom login --again",
      };
      return undefined;
    }
    yield { level: "ok", code: "token", message: `The token is that of ${user_id}, device ${device_id}` };
    return { mxid: user_id, deviceId: device_id };
  } catch (error) {
    yield { level: "error", code: "account", message: messageOf(error) };
    return undefined;
  }
}

/** Looks at the store; returns whether this process may take the device. */
async function* storeFindings(
  settings: Settings,
  { mxid, deviceId }: { mxid: UserID; deviceId?: string },
): AsyncGenerator<Finding, boolean> {
  const { MATRIX_STORE: path } = settings;
  if (path === undefined || deviceId === undefined) return false;
  try {
    if (await statOf(path) === undefined) {
      yield {
        level: "error",
        code: "store-missing",
        message: `There is no store at ${path}`,
        mend: "If it is lost, log in again: greenroom login --again",
      };
      return false;
    }
    await using store = await openStore(path, settings);
    const devices = await Array.fromAsync(listDevices(store));
    if (!devices.some((device) => device.mxid === mxid && device.deviceId === deviceId)) {
      yield {
        level: "error",
        code: "store-of-another",
        message: `The store ${path} does not have the device ${deviceId}`,
        mend: "Set MATRIX_STORE to its store, or log in again: greenroom login --again",
      };
      return false;
    }
    const { records } = await inspectDevice(store, { mxid, deviceId });
    yield {
      level: "ok",
      code: "store",
      message: `The store ${path} has the device, with ${records} records`,
    };
    return true;
  } catch (error) {
    yield failed("store", error);
    return false;
  }
}

/** What the bot mends when it starts; the advice of the library names the calls for that. */
const MENDED_AT_START: ReadonlySet<CryptoFindingCode> = new Set([
  ...["device-missing", "device-unsigned", "identity-absent", "identity-unproven"] as const,
  ...["private-keys-missing", "private-keys-unpublished", "secret-storage-absent"] as const,
  ...["backup-absent", "backup-unreadable", "backup-untrusted", "fallback-key-missing"] as const,
]);

async function* cryptoFindings(settings: Settings): AsyncGenerator<Finding> {
  const { MATRIX_RECOVERY_KEY: key, MATRIX_RECOVERY_KEY_FILE: keyFile } = settings;
  const mend = key === undefined
    ? `If the account has a recovery key, put it into ${
      keyFile ?? "the file of MATRIX_RECOVERY_KEY_FILE"
    }; start the bot`
    : "Start the bot";
  try {
    await using account = await openEncrypted(settings);
    const findings = await account.client.crypto?.doctor() ?? [];
    yield* findings.map((found) => MENDED_AT_START.has(found.code) ? { ...found, mend } : found);
  } catch (error) {
    yield failed("encryption", error);
  }
}

/** What an error says; that the bot runs is none. */
export function failed(code: string, error: unknown): Finding {
  return isStoreInUse(error)
    ? {
      level: "warning",
      code: "store-in-use",
      message: "The bot runs, so its encryption can't be looked at",
      mend: "Stop the bot, and ask again",
    }
    : { level: "error", code, message: messageOf(error) };
}
