/**
 * A homeserver puts anything into any field of what it tells a running device: messages to it, account data,
 * device lists, answers about keys.
 *
 * What must hold: the rest of the same response is heard, the next message is read, the device still sends,
 * nothing is thrown out of the client, and what it remembers does not grow.
 *
 * The class of mistake: a field is taken for what it should be, or what it leads to fails again and again.
 */

import { assert, assertEquals } from "@std/assert";
import { playFields } from "../../../../bench/fuzz/fields.ts";
import { begin, beginIn, ENCRYPTED } from "../../../client/support/encrypted_room.ts";
import { clientStage, heard } from "../../../client/support/stage.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

/** How many changes are played of all; `deno task fuzz:fields` plays all. */
const COUNT = 400;

Deno.test("T181: a device reads and sends, whatever is in any field of what it is told", async () => {
  const { all, played, fault, sent } = await playFields({ count: COUNT });
  assertEquals(fault, undefined);
  const total = [...played.values()].reduce((sum, count) => sum + count, 0);
  assert(all > 10_000 && total >= COUNT - 1 && sent > 10, `${total} of ${all}, ${sent} sent`);
});

Deno.test("T181: a message to a user whom no server can have does not hold up what a device sends", async () => {
  await using here = clientStage();
  let isTold = false;
  const start = { from_device: "D", transaction_id: "t", method: "org.example.none" };
  const told = { events: [{ type: "m.key.verification.start", sender: "@:", content: start }] };
  const alice = here.client("alice", {
    encryption: EVERYBODY,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const response = await here.homeserver.fetch(request);
      if (!request.url.includes("since=") || isTold) return response;
      isTold = true;
      return Response.json({ ...await response.json(), to_device: told });
    },
  });
  const bob = here.client("bob", { encryption: EVERYBODY });
  const texts = heard(bob);
  await begin(here, alice);
  const roomId = await alice.createRoom({ initialState: ENCRYPTED });
  await beginIn(here, bob, { roomId, member: alice });
  await alice.sendText(roomId, "one");
  await here.settle();
  await alice.sendText(roomId, "two");
  await here.until(() => texts.length === 2);
  assertEquals([isTold, texts], [true, ["one", "two"]]);
});
