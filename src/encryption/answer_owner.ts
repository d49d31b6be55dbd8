/**
 * Verifications that a program answers by itself: `encryption: { verification: { acceptFrom } }`.
 *
 * @module
 */

import type { Crypto } from "./crypto.ts";
import type { OwnerVerificationOptions } from "./encryption_options.ts";
import type { Logger } from "../base/log.ts";
import { VerificationError } from "../errors/encryption_error.ts";
import { encryptionOf } from "../types/events/encryption_info.ts";
import type { EventOf } from "../types/events/event_of.ts";
import type { RoomID, UserID } from "../types/ids.ts";
import type { VerificationComparison, VerificationRequest } from "../types/verification.ts";

/** What it needs of a client. */
export interface AnsweringClient {
  /** End-to-end encryption. */
  readonly crypto: Crypto | undefined;
  /** Whose client it is; empty: it is not known yet. */
  readonly mxid: UserID | "";
  /** Where it says what it does. */
  readonly cryptoLog: Logger;
  addEventHandler(type: "m.room.message", handler: (event: EventOf<"m.room.message">) => void): void;
  /** Removes it. */
  removeEventHandler(type: "m.room.message", handler: (event: EventOf<"m.room.message">) => void): void;
  /** Says something in a room. */
  sendNotice(roomId: RoomID, text: string): Promise<unknown>;
}

/** How many of the emoji the owner says: no word of another verification fits by chance. */
const SAID = 3;

/**
 * Answers the owners' requests, until the client is closed. The last request of an owner counts: who
 * asks again has given up what went before.
 */
export async function answerOwners(
  client: AnsweringClient,
  options: OwnerVerificationOptions | undefined,
): Promise<void> {
  if (options === undefined) return;
  const latest = new Map<UserID, VerificationRequest>();
  const underway = new Set<Promise<void>>();
  for await (const request of client.crypto?.verificationRequests ?? []) {
    const { userId } = request;
    if (!options.acceptFrom.includes(userId)) continue;
    await latest.get(userId)?.cancel().catch(() => {}); // it has ended
    latest.set(userId, request);
    const answered = answer(client, request, options).finally(() => underway.delete(answered));
    underway.add(answered);
  }
  await Promise.all(underway);
}

/** Answers one, and says how it has ended. Does not reject. */
async function answer(
  client: AnsweringClient,
  request: VerificationRequest,
  options: OwnerVerificationOptions,
): Promise<void> {
  const { userId, deviceId, roomId } = request;
  try {
    await compare(client, request, options);
    await request.done;
    client.cryptoLog.info("Verified an owner", { userId, deviceId });
  } catch (error) {
    const { problem } = error instanceof VerificationError ? error : { problem: String(error) };
    client.cryptoLog.warn("A verification with an owner has ended", { userId, deviceId, roomId, problem });
    await request.cancel().catch(() => {}); // it has ended
  }
}

async function compare(
  client: AnsweringClient,
  request: VerificationRequest,
  { confirm }: OwnerVerificationOptions,
): Promise<void> {
  const why = confirm === undefined ? await unheard(client, request.userId) : undefined;
  if (why !== undefined) {
    client.cryptoLog.warn(`No word of an owner would count: ${why}`, { userId: request.userId });
    return await request.cancel();
  }
  await request.accept();
  const comparison = await request.startSas();
  const isSame = confirm === undefined
    ? wordOf(client, request, comparison)
    : Promise.resolve(confirm(request, comparison));
  const ended = request.done.then(() => false); // it rejects: nobody waits for a word any more
  await (await Promise.race([isSame, ended]) ? request.confirm() : request.mismatch());
}

/** Shows what is to be compared, and waits for the owner's word. */
async function wordOf(
  client: AnsweringClient,
  request: VerificationRequest,
  { emoji, decimals = [] }: VerificationComparison,
): Promise<boolean> {
  const { userId, roomId, done } = request;
  const shown = emoji?.map(({ symbol, name }) => `${symbol} ${name}`).join("  ") ?? decimals.join(" ");
  const few = emoji?.slice(0, SAID);
  // Some write the emoji themselves, alone or as they are shown.
  const words = few === undefined ? [decimals] : [
    few.map(({ name }) => name),
    few.map(({ symbol }) => symbol),
    few.map(({ name, symbol }) => `${symbol} ${name}`),
  ];
  const right = words.map((each) => `yes ${each.join(" ")}`);
  const [yes = ""] = right;
  const word = Promise.withResolvers<boolean>();
  let isAskedAgain = false;
  const listen = (event: EventOf<"m.room.message">): void => {
    if (event.sender !== userId || !isTrusted(event)) return;
    const said = wordsOf(event.content.body);
    const isRight = right.some((each) => wordsOf(each) === said);
    if (isRight || NO.includes(said)) return word.resolve(isRight);
    if (!BARE.includes(said) || event.room_id !== roomId || isAskedAgain) return;
    isAskedAgain = true;
    client.sendNotice(roomId, `Please say: ${yes}`).catch(() => {}); // the log has it, too
  };
  client.addEventHandler("m.room.message", listen);
  try {
    client.cryptoLog.warn("Compare with what the owner's device shows, and have the owner say yes or no", {
      userId,
      shown,
      yes,
    });
    if (roomId !== undefined) {
      const todo = `If your device shows the same, say: ${yes}. If not, say: no`;
      await client.sendNotice(roomId, `I see ${shown}. ${todo}`);
    }
    const isSame = await Promise.race([word.promise, done.then(() => false)]);
    return isSame && !await isReset(client, userId); // it may have been since
  } finally {
    client.removeEventHandler("m.room.message", listen);
  }
}

const NO = ["no", "n"];
/** A yes to nothing: a server could have held it back from another time. */
const BARE = ["yes", "y", "ok"];

/** Reads what is said, however it is written: emoji with the selectors of how they are shown, or without. */
function wordsOf(text: string): string {
  return text.replaceAll(/[\uFE0E\uFE0F]/g, "").trim().toLowerCase().split(/\s+/).join(" ");
}

/** Says why no word of an owner would count; undefined: one does. */
async function unheard(client: AnsweringClient, userId: UserID): Promise<string | undefined> {
  if (userId === client.mxid) return "the own account's devices are verified by it; give a confirm";
  if (!await isReset(client, userId)) return undefined;
  return "the identity was reset, by the owner or the server; compare it and acknowledgeIdentity(), or give a confirm";
}

/**
 * Returns whether the identity of an owner is not the one that was seen first, and nobody has accepted it
 * since.
 */
async function isReset({ crypto }: AnsweringClient, userId: UserID): Promise<boolean> {
  return (await crypto?.getIdentity(userId))?.wasReset === true;
}

/**
 * Returns whether a message is of a device that the owner's identity has signed.
 * Of such a device no message is whose key has come by a file, a backup or another device.
 */
function isTrusted(event: EventOf<"m.room.message">): boolean {
  const { senderTrust } = encryptionOf(event) ?? {};
  return senderTrust === "verified" || senderTrust === "unverified-identity";
}
