import { assertEquals } from "@std/assert";
import { NotFoundError } from "@greenroom/matrix";
import { WrongRoomKeysVersionError } from "@greenroom/matrix/errors";
import type { KeyBackupData, RoomID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { refused } from "./support/wait.ts";

const BACKUP = {
  algorithm: "m.megolm_backup.v1.curve25519-aes-sha2",
  auth_data: { public_key: "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo", signatures: {} },
};

/** As session IDs are: with what a path must escape. */
const SESSION = {
  roomId: "!room:example.org" as RoomID,
  sessionId: "ipdI6Zs/7DzFTEhiA2iGaMDfHkIYCleqXT6L+5e1/co",
};

function roomKey(first_message_index: number): KeyBackupData {
  const session_data = { ephemeral: "a2V5", ciphertext: "dGV4dA", mac: "bWFjbWFjbWE" };
  return { first_message_index, forwarded_count: 0, is_verified: false, session_data };
}

function rooms(key: KeyBackupData) {
  return { rooms: { [SESSION.roomId]: { sessions: { [SESSION.sessionId]: key } } } };
}

/** The backup of room keys. */
export const roomKeys: readonly Operation[] = [
  {
    name: "createKeyBackupVersion() makes a version that can be found, changed and deleted",
    covers: [
      "createKeyBackupVersion",
      "getKeyBackupVersion",
      "updateKeyBackupVersion",
      "deleteKeyBackupVersion",
    ],
    async run(scene) {
      const alice = await scene.player("alice");
      await refused(() => alice.raw.getKeyBackupVersion(), NotFoundError, 404);
      const version = await alice.raw.createKeyBackupVersion(BACKUP);
      const { etag, ...found } = await alice.raw.getKeyBackupVersion();
      assertEquals<object>(found, { ...BACKUP, version, count: 0 });
      assertEquals(await alice.raw.getKeyBackupVersion({ version }), { ...found, etag });
      const auth_data = { ...BACKUP.auth_data, signatures: { [alice.userId]: { "ed25519:DEV": "c2ln" } } };
      await alice.raw.updateKeyBackupVersion(version, { ...BACKUP, auth_data });
      assertEquals<object>((await alice.raw.getKeyBackupVersion()).auth_data, auth_data);
      const second = await alice.raw.createKeyBackupVersion(BACKUP);
      assertEquals((await alice.raw.getKeyBackupVersion()).version, second);
      await alice.raw.deleteKeyBackupVersion(second);
      assertEquals(
        (await alice.raw.getKeyBackupVersion()).version,
        version,
        "the one before is the latest then",
      );
      await alice.raw.deleteKeyBackupVersion(version);
      await refused(() => alice.raw.getKeyBackupVersion(), NotFoundError, 404);
      await refused(() => alice.raw.deleteKeyBackupVersion("999"), NotFoundError, 404);
    },
  },
  {
    name: "uploadRoomKeys() puts keys into the latest version only, of which the better ones stay",
    covers: ["uploadRoomKeys", "getRoomKey", "downloadRoomKeys", "deleteRoomKey"],
    async run(scene) {
      const alice = await scene.player("alice");
      const old = await alice.raw.createKeyBackupVersion(BACKUP);
      await refused(() => alice.raw.getRoomKey(old, SESSION), NotFoundError, 404);
      assertEquals((await alice.raw.uploadRoomKeys(old, rooms(roomKey(3)))).count, 1);
      for (const index of [5, 1]) await alice.raw.uploadRoomKeys(old, rooms(roomKey(index)));
      assertEquals(await alice.raw.getRoomKey(old, SESSION), roomKey(1));
      const all = await new Response(await alice.raw.downloadRoomKeys(old)).json();
      assertEquals(all, rooms(roomKey(1)));
      await refused(() => alice.raw.downloadRoomKeys("999"), NotFoundError, 404);
      const version = await alice.raw.createKeyBackupVersion(BACKUP);
      await refused(() => alice.raw.uploadRoomKeys(old, rooms(roomKey(0))), WrongRoomKeysVersionError, 403);
      assertEquals(await alice.raw.getRoomKey(old, SESSION), roomKey(1), "it can be read still");
      await alice.raw.uploadRoomKeys(version, rooms(roomKey(2)));
      assertEquals((await alice.raw.deleteRoomKey(version, SESSION)).count, 0);
      await refused(() => alice.raw.getRoomKey(version, SESSION), NotFoundError, 404);
    },
  },
];
