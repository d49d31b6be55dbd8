import { assertEquals } from "@std/assert";
import type { RoomID } from "@greenroom/matrix/types";
import { bundleOf, keysIn, MAX_BUNDLED, withheldIn } from "../../../src/crypto/history/key_bundle.ts";
import type { ExportedSession } from "../../../src/crypto/megolm/mod.ts";

const roomId: RoomID = "!room:example.org";
const KEY = "A".repeat(43);

function session(session_id: string, change: Partial<ExportedSession> = {}): ExportedSession {
  const content = {
    algorithm: "m.megolm.v1.aes-sha2",
    room_id: roomId,
    session_id,
    session_key: "key",
    sender_key: KEY,
  };
  return { content, senderEd25519: KEY, source: "direct", sharedHistory: true, firstIndex: 0, ...change };
}

Deno.test("A bundle has keys that may be shared, and the names of those that may not", () => {
  const nameless = session("nameless", { content: { ...session("nameless").content, sender_key: "" } });
  const bundle = bundleOf([
    session("shared"),
    session("secret", { sharedHistory: false }),
    session("unsigned", { senderEd25519: "" }),
    nameless,
    session("planted", { source: "backup" }),
    session("planted too", { source: "backup", sharedHistory: false }),
  ]);
  const named = { algorithm: "m.megolm.v1.aes-sha2", room_id: roomId, sender_key: KEY };
  const room_keys = [{
    ...named,
    session_id: "shared",
    session_key: "key",
    sender_claimed_keys: { ed25519: KEY },
  }];
  assertEquals(bundle.room_keys, room_keys);
  assertEquals(bundle.withheld.map(({ reason: _reason, ...rest }) => rest), [{
    ...named,
    session_id: "secret",
    code: "m.history_not_shared",
  }]);
});

Deno.test("What is in a bundle may be shared further, and is said by who has sent it", () => {
  const bundle = JSON.parse(JSON.stringify(bundleOf([session("shared")])));
  assertEquals(keysIn(bundle, { roomId, sharedBy: "@alice:example.org" }), [{
    roomId,
    sessionId: "shared",
    sessionKey: "key",
    senderKey: KEY,
    senderEd25519: KEY,
    sharedHistory: true,
    source: "bundle",
    sharedBy: "@alice:example.org",
  }]);
});

Deno.test("Of a bundle no more than 50,000 keys are taken", () => {
  const [key] = bundleOf([session("shared")]).room_keys;
  const room_keys = Array.from({ length: MAX_BUNDLED + 1 }, () => key);
  assertEquals(keysIn({ room_keys }, { roomId, sharedBy: "@alice:example.org" }).length, MAX_BUNDLED);
});

Deno.test("Of a bundle no more than 500 reasons are taken, and no key of a session without a name", () => {
  const reason = {
    algorithm: "m.megolm.v1.aes-sha2",
    room_id: roomId,
    session_id: KEY,
    code: "m.history_not_shared",
  };
  const withheld = Array.from({ length: 501 }, () => reason);
  assertEquals(withheldIn({ withheld }, roomId).length, 500);
  const [key] = bundleOf([session("shared")]).room_keys;
  const room_keys = [{ ...key, session_id: 7 }, { ...key, session_id: undefined }, key];
  const keys = keysIn({ room_keys }, { roomId, sharedBy: "@alice:example.org" });
  assertEquals(keys.map(({ sessionId }) => sessionId), ["shared"]);
});
