/** Room keys in a backup from us to matrix-sdk-crypto and back; no server takes part. */

import {
  BackupDecryptionKey,
  DeviceId,
  initAsync,
  OlmMachine,
  RoomId,
  UserId,
} from "@matrix-org/matrix-sdk-crypto-wasm";
import { assert, assertEquals } from "@std/assert";
import { decryptSession, encryptSession, publicBackupKey } from "../../../src/crypto/backup/session_data.ts";
import { readKeySecret } from "../../../src/crypto/secrets/secrets.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { newEntries } from "../../crypto/key_files/stage.ts";
import { testContext } from "../../crypto/support/context.ts";

Deno.test("S37 matrix-sdk-crypto reads room keys that we put into a backup, and we read its", async () => {
  await initAsync();
  const { vodozemac } = testContext();
  const theirKey = BackupDecryptionKey.createRandomKey();
  const privateKey = readKeySecret(theirKey.toBase64());
  assert(privateKey);
  const publicKey = publicBackupKey(vodozemac, privateKey);
  assertEquals(publicKey, theirKey.megolmV1PublicKey.publicKeyBase64);

  const machine = await OlmMachine.initialize(new UserId("@js:example.org"), new DeviceId("JS"));
  const entries = [...newEntries(3), ...newEntries(2, { "m.shared_history": true })];
  await machine.importExportedRoomKeys(JSON.stringify(entries), () => {});
  await machine.enableBackupV1(publicKey, "1");
  const request = await machine.backupRoomKeys();
  assert(request);
  const { rooms } = JSON.parse(request.body) as { rooms: Record<string, { sessions: JsonObject }> };
  using key = vodozemac.pk.importDecryption(privateKey);
  const read = Object.entries(rooms["!room:example.org"]?.sessions ?? {}).map(([sessionId, data]) =>
    decryptSession(key, { roomId: "!room:example.org", sessionId }, data)
  );
  const idsOf = (of: readonly (string | undefined)[]) => of.toSorted();
  assertEquals(idsOf(read.map((each) => each?.sessionKey)), idsOf(entries.map((each) => each.session_key)));
  assertEquals(read.filter((each) => each?.sharedHistory).length, 2);

  const ours = read.map((each) => {
    assert(each);
    const { roomId: room_id, sessionId: session_id, sessionKey: session_key, senderKey: sender_key } = each;
    const content = { algorithm: "m.megolm.v1.aes-sha2", room_id, session_id, session_key, sender_key };
    const { senderEd25519, sharedHistory = false } = each;
    const exported = { content, senderEd25519, source: "direct" as const, sharedHistory, firstIndex: 0 };
    const { session_data } = encryptSession(vodozemac, publicKey, exported);
    const { ephemeral, mac, ciphertext } = session_data as Record<string, string>;
    return [
      session_id,
      JSON.parse(theirKey.decryptV1(ephemeral ?? "", mac ?? "", ciphertext ?? "")),
    ] as const;
  });
  const other = await OlmMachine.initialize(new UserId("@js:example.org"), new DeviceId("OTHER"));
  const result = await other.importBackedUpRoomKeys(
    new Map([[new RoomId("!room:example.org"), new Map(ours)]]),
    () => {},
    "1",
  );
  assertEquals(result.importedCount, entries.length);
  machine.close();
  other.close();
});
