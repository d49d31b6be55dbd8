/**
 * What must hold after a scripted day, whatever fault hit it.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { encryptionOf, type Store } from "@greenroom/matrix";
import type { RoomID, StateEvent } from "@greenroom/matrix/types";
import type { Homeserver } from "@greenroom/matrix/testing";
import type { DayBot, RoomSession } from "./day_bot.ts";
import type { DaySetup } from "./day_setup.ts";
import { unpacked } from "../../../src/actors/store/packed_state.ts";

/** A day that is over. */
export interface Finished {
  readonly setup: DaySetup;
  readonly bot: DayBot;
  readonly room: RoomID;
  /** The messages of the bot that must be in the room, in order. */
  readonly sent: readonly string[];
  /** Its store. */
  readonly store: Store;
  readonly homeserver: Homeserver;
  /** The one-time keys of its device that the server has handed out. */
  readonly claimed: ReadonlySet<string>;
}

/** Fails if anything was lost or done twice. */
export async function audit(finished: Finished): Promise<void> {
  auditCommitsAfterFault(finished);
  auditMessages(finished);
  auditTimeline(finished);
  const records = await recordsOf(finished);
  auditState(finished, records);
  auditSession(finished, records);
  auditLeftovers(finished, records);
  auditRequests(finished, records);
}

/**
 * After a failed commit, whose outcome is unknown, a process commits nothing but the release of its lease.
 */
function auditCommitsAfterFault({ bot }: Finished): void {
  // The others are internal to the store.
  const logical = bot.commitsAfterFault.filter((name) => !/\b(staged|journal|parts?)\b/.test(name));
  assertEquals(logical.filter((name) => name !== "lease"), [], bot.faults.join());
}

type Records = readonly { readonly key: readonly string[]; readonly value: unknown }[];

/** Bob received each of the bot's messages once, in order, and no index of a group session was used twice. */
function auditMessages({ setup: { bob, carol }, bot, room, sent }: Finished): void {
  const name = bot.faults.join();
  const received = (bob.received.get(room) ?? []).filter(({ event }) => event.sender === bot.mxid);
  assertEquals(received.map(({ body }) => body), sent, name);
  assertEquals(bob.undecryptable.get(room) ?? [], [], name);
  assertEquals(carol.undecryptable.get(room) ?? [], [], name);
  const places = received.map(({ event }) => {
    const { sessionId, messageIndex } = encryptionOf(event) ?? {};
    return `${sessionId} ${messageIndex}`;
  });
  assertEquals(new Set(places).size, sent.length, name);
}

/** The homeserver has each message once. */
function auditTimeline({ homeserver, bot, room, sent }: Finished): void {
  const own = homeserver.room(room).messages.filter(({ sender }) => sender === bot.mxid);
  const count = (wanted: string): number => own.filter(({ type }) => type === wanted).length;
  const name = bot.faults.join();
  assertEquals(count("m.room.encrypted"), sent.length, name);
  const others = [count("m.reaction"), count("m.room.redaction")];
  assertEquals(others, others.map((each) => Math.min(each, 1)), name);
  if (bot.faults.length === 0) assertEquals(others, [1, 1]);
  assertEquals(own.length, sent.length + others.reduce((sum, each) => sum + each, 0), name);
}

/** The room's state is what the homeserver has. */
function auditState({ homeserver, bot, room }: Finished, records: Records): void {
  const of = (wanted: string) => records.filter(({ key: [kind, id] }) => kind === wanted && id === room);
  const packed = of("pack").flatMap(({ value }) => unpacked(value, room));
  // As the Store writes them.
  const known = [...packed, ...of("state").map(({ value }) => value)] as StateEvent[];
  const state = new Map(
    homeserver.room(room).events.flatMap(({ state_key, type, content }) =>
      state_key === undefined ? [] : [[JSON.stringify([type, state_key]), content] as const]
    ),
  );
  assertEquals(
    new Map(known.map((event) => [JSON.stringify([event.type, event.state_key]), contentOf(event)])),
    state,
    bot.faults.join(),
  );
}

/** The session has each of Bob's messages once, in order. */
function auditSession({ bot, sent }: Finished, records: Records): void {
  const sessions = records.filter(({ key: [kind] }) => kind === "session").map(({ value }) => value);
  const texts = sent.filter((text) => text.includes(": ")).map((text) => text.replace(/^\d+: /, ""));
  const { bulk: _, ...stored } = sessions[0] as RoomSession; // as the bot's definition has it
  assertEquals([stored], [{ count: texts.length, texts }], bot.faults.join());
  assertEquals(sessions.length, 1);
}

/**
 * No request is left to send, and no record is left of events that are settled, but of the last one that was
 * delivered carefully: it is removed with the next response that is handled, and the day may end before that.
 */
function auditLeftovers({ bot }: Finished, records: Records): void {
  const kept = (...kinds: string[]) =>
    records.map(({ key }) => key).filter(([kind = ""]) => kinds.includes(kind as string));
  assertEquals(kept("outbox", "attempts", "parked"), [], bot.faults.join());
  const settled = kept("settled");
  if (bot.faults.length < 2 || settled.length > 1) assertEquals(settled, [], bot.faults.join());
}

/**
 * No two messages were encrypted at the same index of a ratchet, no two to-device messages had the
 * same transaction, and the server has no key without its private half in the store.
 */
function auditRequests({ homeserver, bot, claimed }: Finished, records: Records): void {
  const name = bot.faults.join();
  const own = [...homeserver.requests].filter(({ user }) => user === bot.mxid);
  const bodies = new Map<string, string>();
  const keys = new Map<string, string>();
  for (const { path, json } of own) {
    const body = JSON.stringify(json);
    if (path.includes("/sendToDevice/")) assertEquals(bodies.getOrInsert(path, body), body, name);
    if (path.includes("/send/m.room.encrypted/")) {
      assertEquals(bodies.getOrInsert(ratchetPlaceOf(json), body), body, name);
    }
    if (!path.endsWith("/keys/upload")) continue;
    const { one_time_keys = {} } = json as { one_time_keys?: Record<string, { key: string }> };
    for (const [id, { key }] of Object.entries(one_time_keys)) {
      assertEquals(keys.getOrInsert(id, key), key, name);
    }
  }
  const refused = own.filter(({ path, status }) => path.includes("/keys/") && (status ?? 0) >= 400);
  assertEquals(refused.map(({ path }) => path), [], name);
  const account = records.find(({ key: [kind] }) => kind === "account")?.value as AccountLike;
  const kept = new Set<string>();
  for (let at = 0; at < account.oneTimeKeys.length; at += 32) {
    kept.add(account.oneTimeKeys.subarray(at, at + 32).toBase64({ omitPadding: true }));
  }
  const onServer = [...keys].filter(([id]) => !claimed.has(id)).map(([, key]) => key);
  assertEquals(onServer.filter((key) => !kept.has(key)), [], name);
  assert(onServer.length >= 50, `${onServer.length} keys on the server: ${name}`);
  assertEquals([account.unpublished, account.identityPublished, account.rollbacks], [false, true, 0], name);
}

/** The session and the index of an encrypted event: the index follows the version and the tag. */
function ratchetPlaceOf(json: unknown): string {
  const { session_id, ciphertext } = json as { session_id: string; ciphertext: string };
  const bytes = Uint8Array.fromBase64(ciphertext.slice(0, 8)); // an index below 128 is one byte
  assertEquals([bytes[0], bytes[1]], [3, 8]);
  return `${session_id} ${bytes[2]}`;
}

/** The part of the account's record that is checked. */
interface AccountLike {
  readonly oneTimeKeys: Uint8Array;
  readonly unpublished: boolean;
  readonly identityPublished: boolean;
  readonly rollbacks: number;
}

async function recordsOf({ store, bot }: Finished): Promise<Records> {
  const records: { key: readonly string[]; value: unknown }[] = [];
  for await (const { key: [, , ...path], value } of store.list([bot.mxid, "BOT"])) {
    records.push({ key: path[0] === "crypto" ? path.slice(1) : path, value });
  }
  assert(records.length > 0);
  return records;
}

function contentOf(value: unknown): unknown {
  return (value as { content: unknown }).content; // a StoredState
}
