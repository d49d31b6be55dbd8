/**
 * `greenroom verify`: two people compare emoji, one of them at this terminal, or one scans its code.
 *
 * @module
 */

import process from "node:process";
import { abortable } from "@std/async/abortable";
import { type Client, isUserId } from "../../../mod.ts";
import type { UserID, VerificationRequest } from "../../../types.ts";
import { VerificationError } from "../../../errors.ts";
import {
  CancelledError,
  CliError,
  drawnCode,
  type Input,
  STATUS,
  type Terminal,
  UsageError,
} from "../io/mod.ts";
import { atEnding, followed, openEncrypted, readSettings } from "../project/mod.ts";
import { roomOf } from "./rooms.ts";

/** How it may go on: emoji, and with `--qr` a code as well. */
interface Method {
  readonly ways: readonly ("sas" | "show-qr")[];
}

/** Asks a user, or waits for a request. */
export async function run({ args, values, flags, terminal }: Input): Promise<void> {
  if (!terminal.isInteractive) {
    throw new UsageError(
      "Cannot verify anybody: there is no terminal, and somebody has to compare what it shows",
    );
  }
  const user = userOf(args[0]);
  await using account = await openEncrypted(await readSettings());
  const { client } = account;
  await followed(client);
  const method: Method = { ways: flags.has("qr") ? ["sas", "show-qr"] : ["sas"] };
  const ending = new AbortController();
  using _ = atEnding((status) => {
    // The server may never answer what the first Ctrl-C waits for.
    if (ending.signal.aborted) process.exit(status);
    terminal.note("Ending the verification in good order; Ctrl-C again leaves at once");
    ending.abort(new CancelledError(status));
  });
  const { signal } = ending;
  try {
    if (user === undefined) return await answerRequests(client, method, { terminal, signal });
    // Not cut off: what was sent has to be cancelled.
    const request = await asked(client, { user, room: values.room }, method);
    await ended(request, signal, async () => {
      await accepted(request, user, method, terminal);
      await verified(request, method, terminal);
    });
  } finally {
    await client.crypto?.idle();
  }
}

function userOf(given: string | undefined): UserID | undefined {
  if (given === undefined || isUserId(given)) return given;
  throw new UsageError("Cannot verify the user: what is given is no user ID like @alice:example.org");
}

/** Goes through the requests that come, to the end of the first that the person at the terminal takes. */
async function answerRequests(
  { crypto }: Client,
  method: Method,
  { terminal, signal }: { readonly terminal: Terminal; readonly signal: AbortSignal },
): Promise<void> {
  terminal.note(
    "Waiting for a request: open the bot's profile in Element, and choose to verify it. Ctrl-C ends it.",
  );
  const requests = crypto?.verificationRequests[Symbol.asyncIterator]();
  for (;;) {
    const next = await abortable(Promise.resolve(requests?.next()), signal);
    if (next === undefined || next.done) {
      throw new CliError("Cannot wait for a request: the connection has ended");
    }
    const request = next.value;
    const isTaken = await ended(request, signal, async () => {
      const who = `${request.userId}, device ${request.deviceId ?? "?"}`;
      const message = `${who} wants to verify. Is that you?`;
      if (!await terminal.confirm({ message, otherwise: "use a terminal" })) {
        await request.cancel();
        return false;
      }
      await request.accept(method);
      await verified(request, method, terminal);
      return true;
    });
    if (isTaken) return;
  }
}

/** Does the steps of a verification; Ctrl-C, at a prompt too, cancels it. */
async function ended<Result>(
  request: VerificationRequest,
  signal: AbortSignal,
  steps: () => Promise<Result>,
): Promise<Result> {
  try {
    signal.throwIfAborted();
    return await abortable(steps(), signal);
  } catch (error) {
    if (error instanceof CancelledError) await request.cancel().catch(() => undefined);
    if (!(error instanceof VerificationError)) throw error;
    throw new CliError(`${error.message}; nothing is trusted that was not before`, STATUS.REFUSED);
  }
}

/** Shows what is to be compared or scanned, and says how it ended. */
async function verified(request: VerificationRequest, method: Method, terminal: Terminal): Promise<void> {
  await show(request, method, terminal);
  if (request.phase === "scanned") await confirmScan(request, terminal);
  else await compare(request, terminal);
  const { userId, deviceId, isIdentityVerified } = await request.done;
  terminal.note(`Verified: ${isIdentityVerified ? userId : `${userId}, device ${deviceId}`}`);
}

async function asked(
  client: Client,
  { user: userId, room }: { readonly user: UserID; readonly room: string | undefined },
  method: Method,
): Promise<VerificationRequest> {
  const { crypto } = client;
  if (crypto === undefined) throw new CliError("Cannot verify the user: there is no encryption");
  const peer = room === undefined ? { userId } : { userId, roomId: await roomOf(client, room) };
  return await crypto.requestVerification(peer, method);
}

/** Waits until the other side has accepted. */
async function accepted(
  request: VerificationRequest,
  userId: UserID,
  method: Method,
  terminal: Terminal,
): Promise<void> {
  terminal.note(`Asked ${userId}: accept it there. Ctrl-C ends it.`);
  while (request.phase === "requested") await request.changed();
  if (request.phase === "ready" && !method.ways.includes("show-qr")) await request.startSas();
}

/** Shows a code, until it is scanned, or the other side begins with emoji. */
async function show(request: VerificationRequest, method: Method, terminal: Terminal): Promise<void> {
  if (request.phase !== "ready" || !method.ways.includes("show-qr")) return;
  const lines = request.ways.includes("show-qr")
    ? await drawnCode(await request.showQr(), terminal)
    : undefined;
  for (const line of lines ?? []) terminal.note(line);
  if (lines === undefined) {
    terminal.note(
      "There is no code, since the other device scans none, or this terminal is too narrow: use emoji",
    );
    if (!request.isIncoming) await request.startSas();
  } else terminal.note("Scan it with the other device, or choose to compare emoji there.");
  while (request.phase === "ready") await request.changed();
}

async function confirmScan(request: VerificationRequest, terminal: Terminal): Promise<void> {
  const isScanned = await terminal.confirm({
    message: "Does the other device say that it has scanned this code?",
    otherwise: "look at it",
  });
  if (isScanned) return await request.confirm();
  await request.cancel();
  throw new CliError(
    "Another device has scanned the code: nothing is trusted. Find out whose it is",
    STATUS.REFUSED,
  );
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
}
