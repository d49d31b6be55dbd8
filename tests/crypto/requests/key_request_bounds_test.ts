/** What ends a request for a key, and what bounds requests and answers. */

import { assert, assertEquals } from "@std/assert";
import { Asker, forwarded } from "./asker.ts";
import { ALICE, knownSender, newDevice, ROOM, Sender } from "../megolm/support.ts";

const stranger = (asker: Asker) => new Sender(asker, newDevice(asker, ALICE));

Deno.test("a request is called off only by a key that opens the earliest event that waits, over a restart", async () => {
  const asker = new Asker();
  asker.ownDevice("PHONE");
  const sender = stranger(asker);
  const events = ["zero", "one", "two", "three", "four"].map((body) => sender.say(body));
  const session = { roomId: ROOM, sessionId: sender.sessionId };
  const received = async (firstIndex: number): Promise<unknown[]> => {
    await asker.step((tx) => asker.requests.received(tx, { session, firstIndex }));
    return (await asker.sent()).map(([, , { action }]) => action);
  };
  const want = async (index: number): Promise<void> => {
    const [event] = events.slice(index);
    assert(event);
    await asker.want(event);
  };
  await want(3);
  assertEquals((await asker.sent()).length, 1);
  assertEquals(await received(4), []);
  await want(1);
  await want(4);
  await asker.reopen();
  assertEquals(await received(2), []);
  assertEquals(await received(1), ["request_cancellation"]);
});

Deno.test("a flood in many rooms, or of many devices, is asked for and answered only so often", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  asker.ownDevice("PHONE");
  const event = stranger(asker).say("x");
  for (let number = 0; number < 1_100; number++) {
    await asker.want({ ...event, room_id: `!${number}:example.org` });
  }
  const asked = (await asker.sent()).length;
  const sender = await knownSender(asker);
  for (let number = 0; number < 1_100; number++) {
    await asker.ask(asker.ownDevice(`DEVICE${number % 20}`), sender, { request_id: `${number}` });
  }
  assertEquals([asked, (await asker.sent()).length], [500, 1_000]);
});

Deno.test("a forwarded key of a device that was asked and is not verified any more does not count", async () => {
  for (const trust of ["blacklisted", "unsigned"] as const) {
    const asker = new Asker();
    const phone = asker.ownDevice("PHONE");
    const sender = stranger(asker);
    await asker.want(sender.say("hello"));
    assertEquals(await asker.forward({ ...phone, trust }, forwarded(asker, sender)), undefined, trust);
    assert(await asker.forward(phone, forwarded(asker, sender)));
  }
});
