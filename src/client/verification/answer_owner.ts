/**
 * Verifications that a program answers by itself: `encryption: { verification: { acceptFrom } }`.
 *
 * @module
 */

import type { Crypto } from "../../actors/crypto/crypto.ts";
import type { OwnerVerificationOptions } from "../../actors/crypto/encryption_options.ts";
import type {
  VerificationComparison,
  VerificationRequest,
} from "../../actors/crypto/verification/verification_crypto.ts";
import type { Logger } from "../../base/log.ts";
import { ValueError } from "../../errors/value_error.ts";
import { VerificationError } from "../../errors/verification_error.ts";
import { encryptionOf } from "../../types/events/encryption_of.ts";
import type { EventOf } from "../../types/events/event_of.ts";
import type { RoomID } from "../../types/ids.ts";

/** What it needs of a client. */
export interface AnsweringClient {
  /** End-to-end encryption. */
  readonly crypto: Crypto | undefined;
  /** Where it says what it does. */
  readonly cryptoLog: Logger;
  /** Adds a handler. */
  addEventHandler(type: "m.room.message", handler: (event: EventOf<"m.room.message">) => void): void;
  /** Removes it. */
  removeEventHandler(type: "m.room.message", handler: (event: EventOf<"m.room.message">) => void): void;
  /** Says something in a room. */
  sendNotice(roomId: RoomID, text: string): Promise<unknown>;
}

const YES = ["yes", "y", "ok"];
const NO = ["no", "n"];

/** Answers the owners' requests, one after the other, until the client is closed. */
export async function answerOwners(
  client: AnsweringClient,
  options: OwnerVerificationOptions | undefined,
): Promise<void> {
  if (options === undefined) return;
  for await (const request of client.crypto?.verificationRequests ?? []) {
    if (!options.acceptFrom.includes(request.userId)) continue;
    const { userId, deviceId, roomId } = request;
    try {
      await answer(client, request, options);
      await request.done;
      client.cryptoLog.info("Verified an owner", { userId, deviceId });
    } catch (error) {
      const { problem } = error instanceof VerificationError ? error : { problem: String(error) };
      client.cryptoLog.warn("A verification with an owner has ended", { userId, deviceId, roomId, problem });
      await request.cancel().catch(() => {}); // it has ended
    }
  }
}

async function answer(
  client: AnsweringClient,
  request: VerificationRequest,
  { confirm }: OwnerVerificationOptions,
): Promise<void> {
  await request.accept();
  if (request.phase === "ready") {
    await request.startSas().catch((error) => {
      if (!(error instanceof ValueError)) throw error; // the owner was faster
    });
  }
  const comparison = await request.compare();
  const isSame = confirm === undefined
    ? await wordOf(client, request, comparison)
    : await confirm(request, comparison);
  await (isSame ? request.confirm() : request.mismatch());
}

/** Shows what is to be compared, and waits for the owner's word. */
async function wordOf(
  client: AnsweringClient,
  request: VerificationRequest,
  { emoji, decimals }: VerificationComparison,
): Promise<boolean> {
  const { userId, roomId, done } = request;
  const word = Promise.withResolvers<boolean>();
  const listen = (event: EventOf<"m.room.message">): void => {
    const said = event.sender === userId && isTrusted(event) ? event.content.body.trim().toLowerCase() : "";
    if (YES.includes(said) || NO.includes(said)) word.resolve(YES.includes(said));
  };
  client.addEventHandler("m.room.message", listen);
  try {
    const shown = emoji?.map(({ symbol, name }) => `${symbol} ${name}`).join("  ") ?? decimals?.join(" ");
    client.cryptoLog.warn("Compare with what the owner's device shows, and have the owner say yes or no", {
      userId,
      shown,
    });
    if (roomId !== undefined) await client.sendNotice(roomId, `I see ${shown}. Is it the same? (yes/no)`);
    const ended = done.then(() => false);
    return await Promise.race([word.promise, ended]);
  } finally {
    client.removeEventHandler("m.room.message", listen);
  }
}

/** Whether a message is of a device that the owner's identity, the one that was seen first, has signed. */
function isTrusted(event: EventOf<"m.room.message">): boolean {
  const { senderTrust, keySource } = encryptionOf(event) ?? {};
  return keySource === "direct" && (senderTrust === "verified" || senderTrust === "unverified-identity");
}
