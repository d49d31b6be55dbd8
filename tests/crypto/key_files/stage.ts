/** An engine with key files, and what goes into them. */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { KeyFiles } from "../../../src/encryption/key_files.ts";
import type { CryptoHandlers } from "../../../src/actors/crypto/crypto.ts";
import type { Actor } from "../../../src/actors/kernel/mod.ts";
import type { RecoveredEvent } from "../../../src/crypto/megolm/mod.ts";
import { writeKeyFile } from "../../../src/crypto/key_files/key_files.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import type { OutgoingRequests } from "../../../src/actors/crypto/outgoing_requests.ts";
import type { Bot } from "../engine/bot.ts";
import { MEGOLM, ROOM } from "../megolm/support.ts";
import { testContext } from "../support/context.ts";

export const PASSPHRASE = "correct horse battery staple";
const ROUNDS = 1_000;

/** Key files of an engine; what is recovered goes into a list. */
export function keyFilesOf(bot: Pick<Bot, "engine">, recovered: RecoveredEvent[] = []): KeyFiles {
  const actor = bot.engine.steps as unknown as Actor<CryptoHandlers>; // the engine's steps are its messages
  return new KeyFiles({
    actor,
    open: () => Promise.resolve(),
    deliver: (events) => void recovered.push(...events),
    requests: { wake() {} } as OutgoingRequests,
  });
}

/** The entry of a session of somebody's, in a file. */
export type Entry = JsonObject & { readonly session_id: string; readonly session_key: string };

/** Entries of new sessions. */
export function newEntries(count: number, change: JsonObject = {}): Entry[] {
  const { vodozemac, own } = testContext();
  const maker = { sender_key: own.curve25519, sender_claimed_keys: { ed25519: own.ed25519 } };
  return Array.from({ length: count }, () => newEntry(vodozemac, { ...maker, ...change }));
}

function newEntry({ megolm }: Vodozemac, change: JsonObject): Entry {
  using outbound = megolm.createOutbound();
  using session = megolm.createInbound(outbound.sessionKey());
  return {
    algorithm: MEGOLM,
    room_id: ROOM,
    session_id: session.sessionId,
    session_key: session.exportAt() ?? "",
    forwarding_curve25519_key_chain: [],
    ...change,
  };
}

/** A file with any content. */
export async function fileOf(content: string | readonly unknown[]): Promise<string> {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const file = writeKeyFile(ReadableStream.from([text]), { passphrase: PASSPHRASE, rounds: ROUNDS });
  return await new Response(ReadableStream.from(file)).text();
}
