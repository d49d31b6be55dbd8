/**
 * `greenroom verify`: two people compare emoji, one of them at this terminal.
 *
 * @module
 */

import { type Client, isUserId } from "../../../mod.ts";
import type { UserID, VerificationRequest } from "../../../types.ts";
import { VerificationError } from "../../../errors.ts";
import { CancelledError, CliError, type Input, STATUS, type Terminal, UsageError } from "../io/mod.ts";
import { openEncrypted, readSettings } from "../project/mod.ts";
import { roomOf } from "./rooms.ts";

const METHOD = { ways: ["sas"] } as const;

/** Asks a user, or waits for a request. */
export async function run({ args, values, terminal }: Input): Promise<void> {
  if (!terminal.isInteractive) {
    throw new UsageError(
      "Cannot verify anybody: there is no terminal, and somebody has to compare what it shows",
    );
  }
  const user = userOf(args[0]);
  await using account = await openEncrypted(await readSettings());
  const { client } = account;
  await followed(client);
  const request =
    await (user === undefined ? incoming(client, terminal) : asked(client, user, values.room, terminal));
  try {
    await compare(request, terminal);
  } catch (error) {
    if (error instanceof CancelledError) await request.cancel().catch(() => undefined);
    if (!(error instanceof VerificationError)) throw error;
    throw new CliError(`${error.message}; nothing is trusted that was not before`, STATUS.REFUSED);
  } finally {
    await client.crypto?.idle();
  }
}

function userOf(given: string | undefined): UserID | undefined {
  if (given === undefined || isUserId(given)) return given;
  throw new UsageError("Cannot verify the user: what is given is no user ID like @alice:example.org");
}

/** Follows what comes, from now on; an error of that ends `client.done`. */
async function followed(client: Client): Promise<void> {
  const synced = Promise.withResolvers<void>();
  client.on("SYNC_SUCCESSFUL", () => synced.resolve());
  client.start({ ignoreInitialSync: true }).catch(synced.reject);
  await synced.promise;
}

/** The first request that the person at the terminal takes. */
async function incoming({ crypto }: Client, terminal: Terminal): Promise<VerificationRequest> {
  terminal.note(
    "Waiting for a request: open the bot's profile in Element, and choose to verify it. Ctrl-C ends it.",
  );
  for await (const request of crypto?.verificationRequests ?? []) {
    const who = `${request.userId}, device ${request.deviceId ?? "?"}`;
    if (
      !await terminal.confirm({
        message: `${who} wants to verify. Is that you?`,
        otherwise: "use a terminal",
      })
    ) {
      await request.cancel();
      continue;
    }
    await request.accept(METHOD);
    return request;
  }
  throw new CliError("Cannot wait for a request: the connection has ended");
}

async function asked(
  client: Client,
  userId: UserID,
  room: string | undefined,
  terminal: Terminal,
): Promise<VerificationRequest> {
  const { crypto } = client;
  if (crypto === undefined) throw new CliError("Cannot verify the user: there is no encryption");
  const peer = room === undefined ? { userId } : { userId, roomId: await roomOf(client, room) };
  const request = await crypto.requestVerification(peer, METHOD);
  terminal.note(`Asked ${userId}: accept it there. Ctrl-C ends it.`);
  while (request.phase === "requested") await request.changed();
  if (request.phase === "ready") await request.startSas();
  return request;
}

async function compare(request: VerificationRequest, terminal: Terminal): Promise<void> {
  const { emoji, decimals } = await request.compare();
  terminal.note("");
  for (const { symbol, name } of emoji ?? []) terminal.note(`  ${symbol}  ${name}`);
  if (emoji === undefined) terminal.note(`  ${decimals?.join("  ")}`);
  terminal.note("");
  const isSame = await terminal.confirm({
    message: "Does the other device show the same?",
    otherwise: "compare them",
  });
  await (isSame ? request.confirm() : request.mismatch());
  if (!isSame) {
    throw new CliError(
      "The emoji differ: nothing is trusted. Find out who sits between the devices",
      STATUS.REFUSED,
    );
  }
  const { userId, deviceId, isIdentityVerified } = await request.done;
  terminal.note(`Verified: ${isIdentityVerified ? userId : `${userId}, device ${deviceId}`}`);
}
