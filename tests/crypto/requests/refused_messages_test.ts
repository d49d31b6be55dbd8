/** A refused message costs others nothing, and is dropped only where it is at fault. */

import { assertEquals, assertFalse } from "@std/assert";
import { isDivisible, type OutboxEntry, RefusedMessages } from "../../../src/crypto/requests/requests.ts";
import type { TransactionID } from "@greenroom/matrix/types";

const common = { txnId: "txn" as TransactionID, createdAt: 0 };

/** Messages for as many devices of one user as are named. */
function messages(id: string, ...devices: string[]): OutboxEntry {
  const contents = Object.fromEntries(devices.map((deviceId) => [deviceId, {}]));
  return {
    kind: "toDevice",
    eventType: "m.dummy",
    messages: { "@bob:example.org": contents },
    id,
    ...common,
  };
}

const ONE = messages("one", "BOB1");
const TWO = messages("two", "BOB1", "BOB2");
const EVENT: OutboxEntry = {
  kind: "roomEvent",
  roomId: "!room:example.org",
  content: { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "", session_id: "session" },
  id: "event",
  ...common,
};

Deno.test("a message that the server refuses for its content or size is divided; one for a single device, or a room, is dropped", () => {
  for (const status of [400, 413]) {
    const refused = new RefusedMessages({ answers: 0 });
    const verdicts = [TWO, ONE, EVENT].map((entry) => refused.judge(entry, status));
    assertEquals(verdicts, ["halves", "never", "never"], String(status));
  }
});

Deno.test("a message that the server forbids or does not support is dropped whole: with fewer devices it would be the same", () => {
  for (const status of [403, 404, 405]) {
    const refused = new RefusedMessages({ answers: 0 });
    assertEquals([TWO, ONE, EVENT].map((entry) => refused.judge(entry, status)), ["never", "never", "never"]);
    assertFalse(isDivisible(status));
  }
});

Deno.test("a message that did not reach the server, or was rate-limited, waits as long as it takes, in its order", () => {
  const refused = new RefusedMessages({ answers: 0 });
  for (const status of [0, 401, 429, 499]) {
    for (let time = 0; time < 5; time++) {
      assertEquals([TWO, ONE, EVENT].map((entry) => refused.judge(entry, status)), [
        "later",
        "later",
        "later",
      ]);
      refused.took(messages("other", "BOB3"));
    }
  }
  assertEquals(refused.sorted([TWO, ONE, EVENT]), [TWO, ONE, EVENT]);
});

Deno.test("a message that the server fails at twice is divided; a room's event is not, however often it fails", () => {
  const refused = new RefusedMessages({ answers: 0 });
  assertEquals([refused.judge(TWO, 500), refused.judge(TWO, 500)], ["later", "halves"]);
  for (let time = 0; time < 5; time++) {
    assertEquals(refused.judge(EVENT, 502), "later");
    refused.took(ONE);
  }
});

Deno.test("one device that the server fails over is given up only if the server has taken something since it first did", () => {
  const refused = new RefusedMessages({ answers: 0 });
  refused.took(messages("before", "BOB3"));
  for (let time = 0; time < 5; time++) assertEquals(refused.judge(ONE, 503), "later");
  refused.took(messages("other", "BOB3"));
  assertEquals(refused.judge(ONE, 503), "never");
});

Deno.test("messages that the server failed at are sent after all others, those with the most failures last", () => {
  const refused = new RefusedMessages({ answers: 0 });
  refused.judge(ONE, 500);
  refused.judge(ONE, 500);
  refused.judge(EVENT, 500);
  assertEquals(refused.sorted([ONE, EVENT, TWO]), [TWO, EVENT, ONE]);
  refused.took(ONE);
  assertEquals(refused.sorted([ONE, EVENT, TWO]), [ONE, TWO, EVENT]);
});

Deno.test("a part of a divided message counts as one until it was queried, or the server has accepted it", () => {
  const refused = new RefusedMessages({ answers: 0 });
  refused.divided(ONE.id);
  assertEquals([refused.takePart(TWO), refused.takePart(ONE), refused.takePart(ONE)], [false, true, false]);
  refused.divided(TWO.id);
  refused.took(TWO);
  assertFalse(refused.takePart(TWO));
});
