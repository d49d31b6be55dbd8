/** JSON that reads otherwise when it is signed than when it is used. */

import { assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { testContext } from "../../support/context.ts";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse } from "../../support/fake_user.ts";

const ALICE = "@alice:a.example";

async function trustOf(alice: FakeUser, keys: unknown): Promise<Record<string, string>> {
  const stage = new DeviceStage();
  await stage.mark(ALICE);
  await stage.ask({ ...queryResponse(alice), device_keys: { [ALICE]: { PHONE: keys } } });
  return await stage.trust(ALICE);
}

Deno.test("T27: a device's signature covers all members, also unknown ones", async () => {
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  const signed = alice.deviceKeys(alice.device("PHONE"), {
    dehydrated: true,
    "org.example.unknown": { "\uffff": 1, "\u{1f600}": [null, true, -7], a: '\u2028\u007f/\\"\b' },
  });
  assertEquals(await trustOf(alice, JSON.parse(JSON.stringify(signed))), { PHONE: "cross-signed" });
  assertEquals(await trustOf(alice, { ...signed, "org.example.unknown": {} }), {});
  assertEquals(await trustOf(alice, { ...signed, dehydrated: false }), {});
  assertEquals(await trustOf(alice, { ...signed, more: 1 }), {});
});

Deno.test("T27: what has no canonical form has no good signature, and is not repaired", async () => {
  const alice = new FakeUser(ALICE, "PHONE");
  const good = alice.deviceKeys(alice.device("PHONE"), { n: 0, text: "" });
  const repairable: JsonObject[] = [
    { n: 0.5 },
    { n: 2 ** 53 },
    { n: NaN },
    { text: "\ud800" },
    { text: undefined },
    JSON.parse(`{"n":${"[".repeat(20_000)}${"]".repeat(20_000)}}`),
  ];
  assertEquals(await trustOf(alice, good), { PHONE: "unsigned" });
  assertEquals(await trustOf(alice, { ...good, n: -0 }), { PHONE: "unsigned" }); // has a form: that of zero
  for (const members of repairable) assertEquals(await trustOf(alice, { ...good, ...members }), {});
});

Deno.test("T27: what other ways of writing JSON make of an object is not what its signature is over", async () => {
  const alice = new FakeUser(ALICE, "PHONE");
  const phone = alice.device("PHONE");
  const { vodozemac } = testContext();
  using key = vodozemac.keys.importEd25519(phone.signing.secret);
  const { signatures: _, ...keys } = alice.deviceKeys(phone);
  const differing: JsonObject[] = [
    { zzz: 0.5 },
    { zzz: 2 ** 53 },
    { zzz: "\ud800" },
    { "\u{1f600}": 1, "\uffff": 2 },
  ];
  for (const members of [{ zzz: 5 }, ...differing]) {
    const object: JsonObject = { ...keys, ...members };
    const { zzz, ...rest } = object;
    const plain = JSON.stringify(sortedByUnits(rest)).slice(0, -1);
    const text = zzz === undefined ? `${plain}}` : `${plain},"zzz":${JSON.stringify(zzz)}}`;
    const signed = { ...object, signatures: { [ALICE]: { "ed25519:PHONE": key.sign(text) } } };
    assertEquals(await trustOf(alice, signed), differing.includes(members) ? {} : { PHONE: "unsigned" });
  }
});

function sortedByUnits(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1);
  return Object.fromEntries(entries.map(([name, member]) => [name, sortedByUnits(member)]));
}

Deno.test("T27: signatures and unsigned may say what they like", async () => {
  const alice = new FakeUser(ALICE, "PHONE");
  const good = alice.deviceKeys(alice.device("PHONE"));
  const signatures = { ...good.signatures as JsonObject, "@other:b.example": { "ed25519:X": 1.5 } };
  assertEquals(await trustOf(alice, { ...good, signatures, unsigned: { age: -0.5 } }), { PHONE: "unsigned" });
});
