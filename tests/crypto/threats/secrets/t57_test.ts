/** Secrets in logs, errors and objects that can be inspected. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { clientStage } from "../../../client/support/stage.ts";
import { conversation } from "../conversation.ts";
import { seen } from "../planted.ts";

Deno.test("T57: no key, token or text is in any log, error or object that can be looked at", async () => {
  await using stage = clientStage();
  const { alice, bob, keys, words, events, errors } = await conversation(stage);
  assert(errors.length >= 8, `only ${errors.length} errors`);
  assert(stage.log.lines.length >= 10, `only ${stage.log.lines.length} lines in the log`);
  const told = [...errors, ...stage.log.lines, alice, bob, alice.crypto, bob.crypto].map(seen).join("\n");
  const identities = await Promise.all([alice, bob].map((client) => client.crypto?.getOwnDeviceKeys()));
  const devices = await alice.crypto?.getDevices("@bob:localhost");
  const shown = [...events, identities, devices].map(seen).join("\n");

  assertEquals(keys.leaksIn(told), []);
  assertEquals(words.leaksIn(told), []);
  assertEquals(keys.leaksIn(shown), []);
  assertNotEquals(words.leaksIn(shown), [], "what was said reaches who is to hear it");
  assert(!/session_key|"private|one_time_keys"|Uint8Array\(/.test(told + shown));
});

Deno.test("T57: keys would be found: as they are sent, as they are kept, and in numbers", async () => {
  await using stage = clientStage();
  const { stores: [store], keys } = await conversation(stage);
  const vodozemac = await Vodozemac.create();
  let sessions = 0;
  for await (const { key, value } of store.list([])) {
    if (!key.includes("inbound")) continue;
    const { state } = value as { state: Uint8Array };
    using session = vodozemac.megolm.restoreInbound(state);
    const texts = [
      session.exportAt() ?? "",
      state.toBase64(),
      state.toHex(),
      Deno.inspect(state),
      seen([...state]),
    ];
    for (const text of texts) assertNotEquals(keys.leaksIn(`key=${text};`), [], text);
    sessions++;
  }
  assert(sessions > 0);
});
