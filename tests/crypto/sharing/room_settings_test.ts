import { assert, assertEquals, assertFalse } from "@std/assert";
import { EncryptionAlgorithm } from "@greenroom/matrix/types";
import {
  type RoomSettings,
  sameSettings,
  withEncryption,
} from "../../../src/crypto/sharing/outbound_record.ts";

const SETTINGS: RoomSettings = {
  algorithm: EncryptionAlgorithm.MEGOLM_V1,
  rotationPeriodMs: 604_800_000,
  rotationPeriodMsgs: 100,
  historyVisibility: "shared",
};

Deno.test("a content of m.room.encryption that is none encrypts a room all the same, in no way that is known", () => {
  for (const content of [undefined, null, "encrypted", [], {}, { algorithm: 5 }, { algorithm: {} }]) {
    const settings = withEncryption(undefined, content);
    assertEquals(settings, { ...SETTINGS, algorithm: undefined, historyVisibility: undefined });
    assertEquals(withEncryption(SETTINGS, content), SETTINGS);
  }
});

Deno.test("the first algorithm of a room stays, and limits only tighten, within bounds", () => {
  const said = { algorithm: "m.other", rotation_period_ms: 1, rotation_period_msgs: 1e9 };
  const tightest = { ...SETTINGS, rotationPeriodMs: 3_600_000 };
  assertEquals(withEncryption(SETTINGS, said), tightest);
  assertEquals(withEncryption(tightest, { ...said, rotation_period_ms: 604_800_000 }), tightest);
  assertEquals(withEncryption(undefined, said).rotationPeriodMsgs, 10_000);
  for (const value of [-1, 1.5, "1", null, Infinity]) {
    const bad = { rotation_period_ms: value, rotation_period_msgs: value };
    assertEquals(withEncryption(SETTINGS, bad), SETTINGS);
  }
  assertEquals(withEncryption(SETTINGS, { rotation_period_msgs: 0 }).rotationPeriodMsgs, 1);
});

Deno.test("sameSettings() sees each difference", () => {
  assert(sameSettings(SETTINGS, { ...SETTINGS }));
  assert(sameSettings(undefined, undefined));
  assertFalse(sameSettings(SETTINGS, undefined));
  const changes: Partial<RoomSettings>[] = [
    { algorithm: "m.other" },
    { rotationPeriodMs: 3_600_000 },
    { rotationPeriodMsgs: 1 },
    { historyVisibility: "joined" },
  ];
  for (const change of changes) assertFalse(sameSettings(SETTINGS, { ...SETTINGS, ...change }));
});
