/**
 * `greenroom recovery reset`: a new identity and a new recovery key, where the old key is lost.
 *
 * The new key is in a file of its own until the homeserver shows the new identity. What is cut off in between
 * is completed or taken back: by the library, which knows whether the homeserver has taken it.
 *
 * @module
 */

import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Client, Crypto } from "../../../mod.ts";
import type { IdentityLoss, JsonObject, StageRequest, UserID } from "../../../types.ts";
import { CancelledError, CliError, type Input, shown, STATUS, UsageError } from "../io/mod.ts";
import { openEncrypted, readSettings, recoveryKeyOf, textOf, writePrivate } from "../project/mod.ts";
import { keyFileOf, NO_ENCRYPTION, opens, putInPlace } from "./recovery.ts";

/** What a person types to go on. */
const WORD = "reset";

/** Replaces the identity. */
export async function reset(input: Input): Promise<void> {
  const { flags, terminal } = input;
  if (!terminal.isInteractive && !flags.has("yes")) {
    throw new UsageError(
      "Cannot reset the identity: nobody can be asked whether that is right; give --yes if it is",
    );
  }
  const settings = await readSettings();
  const path = keyFileOf(settings);
  const key = await recoveryKeyOf(settings);
  const { MATRIX_RECOVERY_KEY_FILE: _, ...withoutKey } = settings; // it may open nothing
  await using account = await openEncrypted(withoutKey);
  const { client } = account;
  const { crypto } = client;
  if (crypto === undefined) throw new CliError(NO_ENCRYPTION);
  const { user_id: user, device_id: own } = await client.whoami();
  if (await settled(client, crypto, path)) {
    terminal.note("Completed what was cut off before");
    return await putInPlace(path, terminal);
  }
  if (key !== undefined && await opens(client.secretStorage, key)) {
    terminal.note(
      `The key in ${path} is right: recovery change makes a new key, and keeps the identity`,
    );
  }
  await mkdir(dirname(path), { recursive: true });
  try {
    const { state } = await crypto.resetIdentity({
      confirm: ({ devices, ...loss }) =>
        isWanted({ ...loss, devices: devices.filter((device) => device !== own) }, input),
      onRecoveryKey: (made) => writePrivate(`${path}.new`, `${made}\n`),
      authentication: {
        stages: {
          "m.login.password": () => byPassword(user, input),
          "m.oauth": (request) => byApproval(request, input),
          "org.matrix.cross_signing_reset": (request) => byApproval(request, input), // before 1.17
        },
      },
    });
    if (state === "declined") throw new CancelledError();
  } catch (error) {
    if (!await settled(client, crypto, path).catch(() => false)) throw error;
  }
  await putInPlace(path, terminal);
}

/**
 * Completes a reset that the homeserver has taken, and takes back one that it has not.
 *
 * @returns Whether there is one that is complete: its key is in the file beside that of the old one.
 */
async function settled(client: Client, crypto: Crypto, path: string): Promise<boolean> {
  const made = (await textOf(`${path}.new`))?.trim();
  if (made === undefined) return false;
  await crypto.ensureVerified({});
  if (await opens(client.secretStorage, made)) return true;
  await rm(`${path}.new`, { force: true });
  return false;
}

/** Says what is lost, and asks whether that is wanted. */
async function isWanted(
  { devices, secretStorage }: IdentityLoss,
  { flags, terminal }: Input,
): Promise<boolean> {
  terminal.note("The bot gets a new identity and a new recovery key. This can't be undone:");
  terminal.note("- Others see that its identity has changed. Who has verified it has to do so again.");
  if (devices.length > 0) {
    terminal.note(`- These other devices of it have to be verified again: ${shown(devices.join(", "))}`);
  }
  if (secretStorage === "replaced") {
    terminal.note("- The old recovery key opens nothing any more, nor do other secrets of the account.");
    terminal.note("- Old messages whose keys are in the old backup alone can't be read any more.");
  }
  if (flags.has("yes")) return true;
  const answer = await terminal.ask({
    message: `Type ${WORD} to go on; anything else leaves all as it is`,
    otherwise: "give --yes",
  });
  return answer === WORD;
}

/** The account's password, where the homeserver wants it. */
async function byPassword(user: UserID, { flags, terminal }: Input): Promise<JsonObject> {
  const isPiped = flags.has("password-stdin");
  const password = await terminal.secret("password", { message: `The password of ${user}?`, isPiped });
  return { identifier: { type: "m.id.user", user }, password };
}

/** On servers with OAuth 2.0 a person allows it at a page. */
async function byApproval({ fallbackUrl }: StageRequest, { terminal }: Input): Promise<void> {
  const page = shown(fallbackUrl);
  if (!terminal.isInteractive) {
    throw new CliError(
      `Cannot reset the identity: the homeserver wants a person's approval; open ${page} on any device, ` +
        "approve it there, and run this again within ten minutes",
      STATUS.REFUSED,
    );
  }
  terminal.note(`Open ${page} on any device, log in as the bot, and approve it.`);
  await terminal.ask({
    message: "Press Enter once that is done",
    otherwise: "use a terminal",
    optional: true,
  });
}
