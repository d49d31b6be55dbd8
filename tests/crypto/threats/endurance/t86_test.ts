/**
 * A member finds an encrypted event that fails the engine in an unforeseen way: the response would
 * be tried again for ever, at each start. It goes on without that event, which is reported as
 * malformed; the events around it are read.
 *
 * Class of mistake: a rule against one message that fails a step was made for messages to the
 * device only.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Logger } from "@greenroom/matrix";
import type { MessageEvent } from "@greenroom/matrix/types";
import { aliceAndBob } from "../../engine/bot.ts";

/** An event that makes its reader fail. */
function poisoned(event: MessageEvent, index: number): MessageEvent {
  const content = {
    ...event.content,
    get ciphertext(): string {
      throw new RangeError("Too much");
    },
  };
  return { ...event, event_id: `$poison${index}`, content };
}

async function receive(count: number) {
  const errors: unknown[] = [];
  const log: Logger = { debug() {}, info() {}, warn() {}, error: (...told) => void errors.push(told) };
  const { alice, bob } = await aliceAndBob({ log });
  const good = [await alice.send("one"), await alice.send("two"), await alice.send("three")];
  const bad = Array.from({ length: count }, (_, index) => poisoned(good[0] as MessageEvent, index));
  const [one, two, three] = good as [MessageEvent, MessageEvent, MessageEvent];
  const input = { ...bob.collect(), encrypted: [one, ...bad.slice(1), two, ...bad.slice(0, 1), three] };
  return { input, bob, alice, errors };
}

Deno.test("T86: the response goes on without encrypted events that make the engine fail, and they are reported", async () => {
  const { input, bob, alice, errors } = await receive(3);
  const { decrypted } = await bob.engine.receiveSync(input);
  const told = decrypted.map((result) => "event" in result ? result.event.content.body : result.code);
  assertEquals(told, ["one", "MALFORMED", "MALFORMED", "two", "MALFORMED", "three"]);
  assertEquals(errors, [["Skipped encrypted events", { count: 3, error: "RangeError: Too much" }]]);
  const four = await alice.send("four");
  await bob.sync();
  assertEquals(bob.outcome(four), "text: four");
});

Deno.test("T86: more of them than could be an accident, or a store that fails, end it as ever", async () => {
  const { input, bob } = await receive(12);
  await assertRejects(() => bob.engine.receiveSync(input), RangeError, "Too much");
  bob.failing = { when: "before", commits: 0 };
  const { encrypted } = input;
  const healthy = { ...input, encrypted: encrypted.filter(({ event_id }) => !event_id.includes("poison")) };
  await assertRejects(() => bob.engine.receiveSync(healthy), TypeError, "The disk is gone");
  assert(bob.failing !== undefined);
});
