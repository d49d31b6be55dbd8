/** Secrets in logs, errors and whatever can be looked at. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals } from "@std/assert";
import {
  type Client,
  encryptionOf,
  type MatrixEvent,
  MemoryStore,
  type MessageEvent,
  SyncStream,
} from "@greenroom/matrix";
import { begin } from "../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { leaksIn, secretBytes } from "./leaks.ts";

const BODY = "Meet me at the stage door at nine";
const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };

/** Everything that can be seen of something. */
function seen(value: unknown): string {
  const texts = [Deno.inspect(value, { depth: 10, iterableLimit: 10_000, strAbbreviateSize: 1e6 })];
  for (let error = value; error instanceof Error; error = error.cause) {
    texts.push(error.message, error.stack ?? "", JSON.stringify(error), String(error));
  }
  return texts.join("\n");
}

/** Everything that users and operators of a conversation in which much goes wrong can see. */
async function conversation(stage: ClientStage) {
  const stores = [new MemoryStore(), new MemoryStore()];
  const tokens = new Set<string>();
  const fetch: typeof globalThis.fetch = (input, init) => {
    const request = new Request(input, init);
    const [, token] = request.headers.get("authorization")?.split(" ") ?? [];
    if (token !== undefined) tokens.add(token);
    return stage.homeserver.fetch(request);
  };
  const [alice, bob] = stores.map((store, index) =>
    stage.client(index === 0 ? "alice" : "bob", { encryption: true, store, fetch })
  ) as [Client, Client];
  const events: MatrixEvent[] = [];
  const errors: unknown[] = [];
  const attempt = async (work: () => Promise<unknown> | undefined): Promise<void> => {
    await Promise.resolve().then(work).catch((error) => errors.push(error));
  };
  for (const client of [alice, bob]) await begin(stage, client);
  const roomId = await alice.createRoom({
    invitees: ["@bob:localhost"],
    initialState: [{ type: "m.room.encryption", state_key: "", content: MEGOLM }],
  });
  await bob.joinRoom(roomId);
  bob.on("m.room.message", (event) => void events.push(event as MessageEvent));
  for (const type of ["UNDECRYPTABLE", "UNENCRYPTED", "HANDLER_ERROR"] as const) {
    bob.on(type, (event) => void events.push(event as unknown as MatrixEvent));
  }
  await stage.settle();

  const { faults } = stage.homeserver;
  for (const path of ["keys/query", "members", "keys/claim", "sendToDevice", "/send/"]) {
    for (const status of [500, 403]) {
      faults.add({ kind: "status", status, match: { path } });
      await alice.crypto?.discardGroupSession(roomId);
      await attempt(() => alice.sendText(roomId, BODY));
      faults.clear();
    }
  }
  await alice.sendText(roomId, BODY);
  await stage.until(() => events.length > 0);
  await bob.sendText(roomId, BODY);
  await attempt(() => alice.sendText(roomId, BODY.repeat(3_000)));
  await attempt(() => alice.crypto?.encrypt(roomId, "m.room.encrypted", { body: BODY }));
  await attempt(() =>
    alice.crypto?.setDeviceTrust({ userId: "@bob:localhost", deviceId: "NOBODY", ed25519: "" }, "verified")
  );
  await attempt(() => alice.sendText("!nowhere:localhost", BODY));
  const [read] = events as MessageEvent[];
  assert(read !== undefined && encryptionOf(read) !== undefined);
  const { chunk } = await bob.getMessages(roomId, "b", undefined, { limit: 20 });
  for (const event of chunk.filter(({ type }) => type === "m.room.encrypted")) {
    const whole = { ...event, source: SyncStream.INTERNAL } as MessageEvent;
    const broken = { ...whole, content: { ...event.content, ciphertext: "AwgA" } };
    for (const each of [whole, broken, { ...whole, content: {} }]) {
      await attempt(async () => events.push(await bob.crypto?.decrypt(each) as unknown as MatrixEvent));
    }
  }
  await stage.settle();
  return { alice, bob, stores, tokens, events, errors };
}

/** What everybody may know, and is among the records as well: identity keys, the IDs of sessions, signatures. */
async function publicKeys(clients: readonly Client[], stores: readonly MemoryStore[]): Promise<string[]> {
  const keys: unknown[] = [];
  for (const store of stores) {
    for await (const { key } of store.list([])) if (key.includes("inbound")) keys.push(key.at(-1));
  }
  for (const client of clients) {
    const { deviceKeys } = await client.crypto?.identity() ?? {};
    for (const members of [deviceKeys?.keys, ...Object.values(deviceKeys?.signatures ?? {})]) {
      keys.push(...Object.values(members ?? {}));
    }
  }
  return keys.filter((key) => typeof key === "string");
}

Deno.test("T57: no key, token or text is in any log, error or object that can be looked at", async () => {
  await using stage = clientStage();
  const { alice, bob, stores, tokens, events, errors } = await conversation(stage);
  assert(errors.length >= 8, `only ${errors.length} errors`);
  assert(stage.log.lines.length >= 10, `only ${stage.log.lines.length} lines in the log`);
  assertEquals(tokens.size, 2);
  const secrets = (await Promise.all(stores.map(secretBytes))).flat();
  assert(secrets.length >= 10);
  const told = [...errors, ...stage.log.lines].map(seen);
  const objects = [alice, bob, alice.crypto, bob.crypto].map(seen);
  const identities = await Promise.all([alice, bob].map((client) => client.crypto?.identity()));
  const devices = await alice.crypto?.getDevices("@bob:localhost");
  const shown = [...events, identities, devices].map(seen);
  const open = await publicKeys([alice, bob], stores);

  assertEquals(leaksIn([...told, ...objects, ...shown].join("\n"), secrets, open), []);
  for (const text of [...told, ...objects, ...shown]) {
    assert(!/session_key|"private|one_time_keys"|Uint8Array\(/.test(text), text);
    for (const token of tokens) assert(!text.includes(token), "an access token");
  }
  for (const text of [...told, ...objects]) assert(!text.includes(BODY), text);
});

Deno.test("T57: keys would be found: as they are sent, as they are kept, and in hexadecimal numbers", async () => {
  await using stage = clientStage();
  const { stores } = await conversation(stage);
  const vodozemac = await Vodozemac.create();
  const secrets = await secretBytes(stores[0] ?? new MemoryStore());
  let sessions = 0;
  for await (const { key, value } of stores[0]?.list([]) ?? []) {
    if (!key.includes("inbound")) continue;
    const { state } = value as { state: Uint8Array };
    using session = vodozemac.megolm.restoreInbound(state);
    for (const text of [session.exportAt() ?? "", state.toBase64(), state.toHex()]) {
      assert(leaksIn(`key=${text};`, secrets).length > 0, text);
    }
    sessions++;
  }
  assert(sessions > 0);
});
