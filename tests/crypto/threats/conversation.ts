/** A conversation in which much goes wrong, all of it with secrets that can be found again. */

import { assert } from "@std/assert";
import { type Client, type ClientOptions, defineEvent, MemoryStore, type Store } from "@greenroom/matrix";
import { type EncryptedFile, type MatrixEvent, type MessageEvent, SyncStream } from "@greenroom/matrix/types";
import { begin } from "../../client/support/encrypted_room.ts";
import type { ClientStage } from "../../client/support/stage.ts";
import { Planted } from "./planted.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };

/** So long is a part of a record that may be a secret. */
const MIN_BYTES = 16;

/** A type whose schema quotes what it refuses, as libraries do. */
const vote = defineEvent({
  type: "org.example.vote",
  class: "message",
  schema: {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => ({
        issues: [{
          message: `expected a number, got ${JSON.stringify(value)}`,
          path: ["vote"],
          input: value,
        }],
      }),
    },
  },
});

/** What there is to see of a conversation, and what must not be seen. */
export interface Conversation {
  readonly alice: Client;
  readonly bob: Client;
  readonly stores: readonly [Store, Store];
  /** Tokens and private keys: they may appear nowhere. */
  readonly keys: Planted;
  /** What was said: only in the events themselves. */
  readonly words: Planted;
  /** What handlers were given. */
  readonly events: MatrixEvent[];
  /** What was thrown, or told as the reason of something. */
  readonly errors: unknown[];
}

/** Has Alice and Bob talk in an encrypted room while all sorts of things go wrong. */
export async function conversation(
  stage: ClientStage,
  { stores = [new MemoryStore(), new MemoryStore()], options = {} }: {
    stores?: readonly [Store, Store];
    options?: Partial<ClientOptions>;
  } = {},
): Promise<Conversation> {
  const [keys, words] = [new Planted(), new Planted()];
  const events: MatrixEvent[] = [];
  const errors: unknown[] = [];
  const attempt = async (work: () => Promise<unknown> | undefined): Promise<void> => {
    await Promise.resolve().then(work).catch((error) => errors.push(error));
  };
  const tokens = new Set<string>();
  const fetch = echoing(stage, tokens);
  const [alice, bob] = stores.map((store, index) =>
    stage.client(index === 0 ? "alice" : "bob", { encryption: EVERYBODY, store, fetch, ...options })
  ) as [Client, Client];
  for (const client of [alice, bob]) await begin(stage, client);
  const roomId = await alice.createRoom({
    invitees: ["@bob:localhost"],
    initialState: [{ type: "m.room.encryption", state_key: "", content: MEGOLM }],
  });
  await bob.joinRoom(roomId);
  bob.on("m.room.message", (event) => void events.push(event));
  bob.on(vote, (event) => void events.push(event));
  for (const type of ["UNDECRYPTABLE", "MALFORMED"] as const) {
    bob.on(type, ({ reason }) => void errors.push(reason));
  }
  for (const type of ["HANDLER_ERROR", "SYNC_ERRORED"] as const) {
    bob.on(type, ({ error }) => void errors.push(error));
  }
  bob.on("m.room.message", async () => {
    await bob.setAccountData("org.example.echo", { kept: words.text("account data") }); // fails, in a handler
  });
  await stage.settle();

  const { faults } = stage.homeserver;
  const say = (name: string): string => words.text(name);
  for (const path of ["keys/query", "members", "keys/claim", "sendToDevice", "/send/"]) {
    for (const status of [500, 403]) {
      faults.add({ kind: "status", status, match: { path } });
      await alice.crypto?.discardGroupSession(roomId);
      await attempt(() => alice.sendText(roomId, say(`refused at ${path}`)));
      faults.clear();
    }
  }
  await alice.sendText(roomId, say("a message"));
  await alice.request("PUT", "/_matrix/client/v3/rooms/{roomId}/send/{type}/{txnId}", {
    path: { roomId, type: "m.room.message", txnId: "clear" },
    body: { msgtype: "m.text", body: say("in clear") },
  });
  await attempt(() => alice.sendMessageEvent(roomId, vote, { vote: say("a vote of one's own") }));
  await alice.sendMessageEvent(roomId, "org.example.vote", { vote: say("a vote") });
  await stage.until(() =>
    events.length > 0 && errors.some((error) => String(error).includes("MalformedContent"))
  );
  await bob.sendText(roomId, say("an answer"));
  await attempt(() => alice.sendText(roomId, say("too long").repeat(3_000)));
  await attempt(() => alice.crypto?.encrypt(roomId, "m.room.encrypted", { body: say("encrypted twice") }));
  await attempt(() =>
    alice.crypto?.setDeviceTrust({ userId: "@bob:localhost", deviceId: "NOBODY", ed25519: "" }, "verified")
  );
  await attempt(() => alice.sendText("!nowhere:localhost", say("nowhere")));
  await attempt(() =>
    alice.sendFile(roomId, new TextEncoder().encode(say("a file")), { fileName: say("its name") })
  );
  await stage.until(() => events.some(({ content }) => "file" in content));
  for (const { content } of events) {
    if (!("file" in content)) continue;
    const file = content.file as EncryptedFile;
    words.add("a file's key", file.key.k);
    faults.add({ kind: "body", body: say("a damaged file"), match: { path: "/media/" }, times: 1 });
    await attempt(() => bob.downloadMedia(file));
    await attempt(() => bob.downloadMedia({ ...file, key: { ...file.key, k: file.key.k.slice(1) } }));
  }
  const { chunk } = await bob.getMessages(roomId, "b", undefined, { limit: 20 });
  for (const event of chunk.filter(({ type }) => type === "m.room.encrypted")) {
    const whole = { ...event, source: SyncStream.INTERNAL } as MessageEvent;
    const broken = { ...whole, content: { ...event.content, ciphertext: "AwgA" } };
    for (const each of [whole, broken, { ...whole, content: {} }]) {
      await attempt(async () => {
        const outcome = await bob.crypto?.decrypt(each);
        if (outcome !== undefined && !("event" in outcome)) errors.push(outcome);
      });
    }
  }
  faults.add({ kind: "status", status: 502, match: { path: "/sync" }, times: 1 });
  await stage.settle();
  for (const token of tokens) keys.add("an access token", token);
  for (const store of stores) await plantKeys(keys, store);
  for (const key of await publicKeys([alice, bob], stores)) keys.allow(key);
  assert(tokens.size === 2 && keys.names.length >= 10);
  return { alice, bob, stores, keys, words, events, errors };
}

/**
 * What brings requests to the homeserver, notes their tokens, and refuses some by saying what was
 * asked.
 */
function echoing({ homeserver }: ClientStage, tokens: Set<string>): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const [, token] = request.headers.get("authorization")?.split(" ") ?? [];
    if (token !== undefined) tokens.add(token);
    if (!request.url.includes("org.example.echo")) return await homeserver.fetch(request);
    const sent = `${request.url} ${JSON.stringify([...request.headers])} ${await request.text()}`;
    return Response.json({ errcode: "M_UNKNOWN", error: `Can't do ${sent}` }, { status: 400 });
  };
}

/**
 * Plants all bytes that are anywhere in the records of encryption in a store: private keys, and
 * what they are made of.
 */
export async function plantKeys(keys: Planted, store: Store): Promise<void> {
  for await (const { key, value } of store.list([])) {
    if (!key.includes("crypto")) continue;
    for (const bytes of bytesIn(value)) {
      if (bytes.length >= MIN_BYTES) keys.add(`a record of ${key[3]}`, bytes);
    }
  }
}

/** All bytes that are anywhere in a value. */
export function* bytesIn(value: unknown): Generator<Uint8Array> {
  if (value instanceof Uint8Array) yield value;
  else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) yield* bytesIn(member);
  }
}

/**
 * What everybody may know, and is among the records as well: identity keys, the IDs of sessions,
 * signatures.
 */
async function publicKeys(clients: readonly Client[], stores: readonly Store[]): Promise<Uint8Array[]> {
  const keys: unknown[] = [];
  for (const store of stores) {
    for await (const { key } of store.list([])) if (key.includes("inbound")) keys.push(key.at(-1));
  }
  for (const client of clients) {
    const { deviceKeys } = await client.crypto?.getOwnDeviceKeys() ?? {};
    for (const members of [deviceKeys?.keys, ...Object.values(deviceKeys?.signatures ?? {})]) {
      keys.push(...Object.values(members ?? {}));
    }
  }
  return keys.filter((key) => typeof key === "string").map((key) => Uint8Array.fromBase64(key));
}
