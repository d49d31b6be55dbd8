import { assert, assertEquals, assertNotEquals } from "@std/assert";
import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { decryptSession, encryptSession, publicBackupKey } from "../../../src/crypto/backup/session_data.ts";
import { readKeySecret } from "../../../src/crypto/secrets/secrets.ts";
import type { ExportedSession } from "../../../src/crypto/megolm/mod.ts";
import { KeyBackups } from "../../../src/testing/users/mod.ts";
import type { JsonObject, MegolmSessionRef } from "@greenroom/matrix/types";
import { testContext } from "../support/context.ts";
import { DATA, SECRET, SESSION, VERSION } from "./vectors.ts";

const { vodozemac, own } = testContext();
const REF: MegolmSessionRef = { roomId: "!room:id", sessionId: SESSION.session_id };
const privateKey = readKeySecret(SECRET) ?? new Uint8Array();
const publicKey = publicBackupKey(vodozemac, privateKey);

/** What is read of the data of a session, by the vectors' private key. */
function read(data: unknown): object | undefined {
  using key = vodozemac.pk.importDecryption(privateKey);
  return decryptSession(key, REF, data);
}

/** Data with any plaintext, encrypted as it should be. */
function sealed(plaintext: string | Uint8Array): JsonObject {
  return { session_data: { ...vodozemac.pk.encrypt(publicKey, plaintext) } };
}

/** A session of the own device. */
function session({ megolm }: Vodozemac, change: Partial<ExportedSession> = {}): ExportedSession {
  using outbound = megolm.createOutbound();
  outbound.encrypt("the first");
  using inbound = megolm.createInbound(outbound.sessionKey());
  const content = {
    algorithm: "m.megolm.v1.aes-sha2",
    room_id: REF.roomId,
    session_id: inbound.sessionId,
    session_key: inbound.exportAt() ?? "",
    sender_key: own.curve25519,
  };
  const senderEd25519 = own.ed25519;
  return { content, senderEd25519, source: "direct", sharedHistory: false, firstIndex: 1, ...change };
}

Deno.test("decryptSession() reads a session of a backup that another client has made", () => {
  assertEquals(publicKey, VERSION.auth_data.public_key);
  const { session_key: sessionKey, sender_key: senderKey, ed25519: senderEd25519 } = SESSION;
  assertEquals(read(DATA), { ...REF, sessionKey, senderKey, senderEd25519, source: "backup" });
});

Deno.test("encryptSession() writes what decryptSession() reads, each time in another way", () => {
  for (const change of [{}, { sharedHistory: true }, { senderEd25519: "" }]) {
    const exported = session(vodozemac, change);
    const data = encryptSession(vodozemac, publicKey, exported);
    const { content, senderEd25519, sharedHistory } = exported;
    const { session_data, ...clear } = data;
    assertEquals(clear, { first_message_index: 1, forwarded_count: 0, is_verified: false });
    assertNotEquals(encryptSession(vodozemac, publicKey, exported).session_data, session_data);
    const { session_key: sessionKey, sender_key: senderKey } = content;
    assertEquals(read(data), {
      ...REF,
      sessionKey,
      senderKey,
      senderEd25519,
      sharedHistory,
      source: "backup",
    });
    assert(!JSON.stringify(data).includes(own.curve25519));
  }
});

Deno.test("A key that reads less does not take the place of one that reads more", () => {
  const backup = new KeyBackups().create("@me:example.org", "any", {});
  for (const firstIndex of [2, 1, 3]) {
    const data = encryptSession(vodozemac, publicKey, session(vodozemac, { firstIndex }));
    backup.put(REF.roomId, REF.sessionId, { ...data });
  }
  assertEquals(backup.get(REF.roomId, REF.sessionId)?.first_message_index, 1);
});

Deno.test("decryptSession() reads the names that other clients give to shared history", () => {
  for (const name of ["org.matrix.msc3061.shared_history", "m.shared_history"]) {
    const { content, senderEd25519 } = session(vodozemac);
    const { sessionKey, senderKey } = { sessionKey: content.session_key, senderKey: content.sender_key };
    const said = { ...content, sender_claimed_keys: { ed25519: senderEd25519 }, [name]: true };
    const expected = { ...REF, sessionKey, senderKey, senderEd25519, sharedHistory: true, source: "backup" };
    assertEquals(read(sealed(JSON.stringify(said))), expected);
  }
});

Deno.test("decryptSession() reads nothing of what is no data of a session", () => {
  const { session_data: { ciphertext, ephemeral, mac } } = DATA;
  const parts = { ciphertext, ephemeral, mac };
  const hostile: unknown[] = [
    undefined,
    null,
    "text",
    [],
    {},
    { session_data: [] },
    { session_data: { ciphertext, mac } },
    { session_data: { ...parts, ciphertext: 1 } },
    { session_data: { ...parts, ciphertext: "A".repeat(65_540) } },
    { session_data: { ...parts, mac: mac.slice(0, 2) } },
    { session_data: { ...parts, mac: `A${mac.slice(1)}` } },
    { session_data: { ...parts, ephemeral: "A".repeat(43) } },
    { session_data: { ...parts, ephemeral: `${ephemeral}!` } },
    sealed("no JSON"),
    sealed("[]"),
    sealed(Uint8Array.of(0x22, 0xff, 0x22)),
    sealed(JSON.stringify({ algorithm: "m.megolm.v1.aes-sha2" })),
    sealed(JSON.stringify({ ...SESSION, algorithm: "m.megolm.v2" })),
  ];
  for (const data of hostile) assertEquals(read(data), undefined, JSON.stringify(data)?.slice(0, 100));
});

Deno.test("decryptSession() reads nothing with another private key", () => {
  using key = vodozemac.pk.createDecryption();
  assertEquals(decryptSession(key, REF, DATA), undefined);
});
