/** Signatures that wait until the server shows or refuses them, whatever its answers look like. */

import { assert, assertEquals } from "@std/assert";
import { type DueSignature, DueSignatures } from "../../../src/crypto/identity/identity.ts";
import { TestClock } from "@greenroom/matrix/testing";
import type { JsonObject, UserID } from "@greenroom/matrix/types";
import { testContext } from "../support/context.ts";
import { memoryVault, step } from "../support/vault.ts";

const BOB: UserID = "@bob:example.org";
const MASTER = "MASTERKEY";
const signatures = { "@me:example.org": { "ed25519:KEY": "signature" } };

function device(name: string): DueSignature {
  return { userId: BOB, name, object: { device_id: name, signatures } };
}

const phone = device("PHONE");
const master: DueSignature = {
  userId: BOB,
  name: MASTER,
  object: { usage: ["master"], keys: { [`ed25519:${MASTER}`]: MASTER }, signatures },
};

/** Signatures that wait, and the warnings about them. */
async function scene(...due: readonly DueSignature[]) {
  const vault = memoryVault();
  const clock = new TestClock();
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const log = { debug() {}, info() {}, warn, error() {} };
  const signed = new DueSignatures(testContext({ clock, log }));
  await step(vault, (tx) => due.forEach((each) => signed.add(tx, each)));
  return {
    signed,
    clock,
    warnings,
    names: () => signed.next(clock.now()).map(({ name }) => name),
    states: () => due.map((each) => signed.fateOf(each).state),
    answer: (uploaded: readonly DueSignature[], response: JsonObject = {}) =>
      step(vault, (tx) => signed.answered(tx, uploaded, response)),
    show: (response: JsonObject) => step(vault, (tx) => signed.shown(tx, response)),
    /** What the next process reads. */
    async stored() {
      const next = new DueSignatures(testContext());
      await step(vault, (tx) => next.load(tx));
      return next.next(0).map(({ name }) => name);
    },
  };
}

Deno.test("a hundred signatures go into a request, and the next follow at once; then there is a wait", async () => {
  const all = Array.from({ length: 101 }, (_, index) => device(`DEVICE${index}`));
  const { signed, clock, names, answer, warnings } = await scene(...all);
  assertEquals(names().length, 100);
  await answer(all.slice(0, 100));
  assertEquals([names()[0], signed.nextIn(clock.now())], ["DEVICE100", 0]);
  await answer(all.slice(100));
  assertEquals([names(), signed.nextIn(clock.now())], [[], 5_000]);
  await clock.tick(5_000);
  assertEquals([names().length, signed.nextIn(clock.now())], [100, 0]);
  assertEquals(warnings, []);
});

Deno.test("what the server shows with the signature is due no more, before or after its upload was answered", async () => {
  const responses = [
    { device_keys: { [BOB]: { PHONE: phone.object } }, master_keys: { [BOB]: master.object } },
    { device_keys: { [BOB]: { PHONE: { signatures } } }, master_keys: { [BOB]: master.object } },
  ];
  for (const response of responses) {
    for (const isAnswered of [true, false]) {
      const { signed, clock, states, answer, show, stored } = await scene(phone, master);
      if (isAnswered) await answer([phone, master]);
      await show(response);
      assertEquals([states(), await stored()], [["uploaded", "uploaded"], []]);
      assertEquals(signed.nextIn(clock.now()), Infinity);
    }
  }
});

Deno.test("a response that says nothing of what was signed, or has another form, leaves it due", async () => {
  const responses: JsonObject[] = [
    {},
    { device_keys: null, master_keys: 7 },
    { device_keys: { [BOB]: null }, master_keys: { [BOB]: "none" } },
    { device_keys: { [BOB]: "PHONE" } },
    { device_keys: { "@carol:example.org": {} }, master_keys: {} },
  ];
  for (const response of responses) {
    const { states, answer, show, stored, warnings } = await scene(phone, master);
    await answer([phone, master]);
    await show(response);
    assertEquals([states(), (await stored()).length, warnings], [["due", "due"], 2, []]);
  }
});

Deno.test("a device that is gone needs no signature any more, nor does a master key that was replaced", async () => {
  const { states, answer, show, warnings } = await scene(phone, master);
  const gone = { device_keys: { [BOB]: {} }, master_keys: { [BOB]: { signatures } } };
  await show(gone);
  assertEquals(states(), ["due", "due"], "it may have been asked before the upload");
  await answer([phone, master]);
  await show({ device_keys: { [BOB]: {} } });
  assertEquals(states(), ["uploaded", "due"], "of the master key it says nothing");
  await show(gone);
  assertEquals([states(), warnings], [["uploaded", "uploaded"], []]);
});

Deno.test("a warning says that the server shows no signature, if it says that it has taken it", async () => {
  const { states, answer, show, warnings } = await scene(phone);
  const without = { device_keys: { [BOB]: { PHONE: { ...phone.object, signatures: {} } } } };
  await show(without);
  assertEquals(warnings, []);
  await answer([phone]);
  await show(without);
  assertEquals([warnings.length, states()], [1, ["due"]]);
});

Deno.test("what the server refuses is not uploaded again; its reasons are bounded in length and number", async () => {
  const all = Array.from({ length: 101 }, (_, index) => device(`DEVICE${index}`));
  const { signed, names, states, answer, stored } = await scene(...all);
  const failures = (reason: unknown, from: number, to: number) => ({
    failures: { [BOB]: Object.fromEntries(all.slice(from, to).map(({ name }) => [name, reason])) },
  });
  await answer(all.slice(0, 100), failures("x".repeat(10_000), 0, 100));
  assertEquals(states(), [...Array.from({ length: 100 }, () => "refused"), "due"]);
  const fate = signed.fateOf(device("DEVICE0"));
  assert(fate.state === "refused" && fate.reason.length === 255);
  await answer(all.slice(100), failures({ errcode: "M_FORBIDDEN" }, 100, 101));
  assertEquals([names(), states()[0], states()[1], await stored()], [[], "uploaded", "refused", []]);
});

Deno.test("an answer of any form refuses nothing that it does not name", async () => {
  const failures = [null, 7, { [BOB]: null }, { [BOB]: { OTHER: {} } }, {
    "@carol:example.org": { PHONE: {} },
  }];
  for (const each of failures) {
    const { states, answer } = await scene(phone);
    await answer([phone], { failures: each } as JsonObject);
    assertEquals(states(), ["due"]);
  }
});
