/** Earlier keys for new members: history is not shared, so that they get none. */

import { assertEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { ToDeviceEvent } from "@greenroom/matrix/types";
import { aliceAndBob, Bot } from "../../engine/bot.ts";
import { RawDevice } from "../../engine/raw_device.ts";

Deno.test("T37: a device that is new gets the key from the next event on, and nothing that opens earlier ones", async () => {
  const { alice, bob, server } = await aliceAndBob();
  const earlier = [await alice.send("one"), await alice.send("two")];
  const other = await Bot.open(server, { userId: bob.userId, deviceId: "BOB2" });
  const carol = await Bot.open(server, { userId: "@carol:example.org", deviceId: "CAROL" });
  await alice.sync();
  const event = await alice.send("three");
  for (const device of [other, carol]) {
    const { toDevice } = server.mailbox(device);
    assertEquals(toDevice.map(({ type }) => type), ["m.room.encrypted"]);
    server.mailbox(device).encrypted.push(...earlier);
    assertEquals((await device.sync()).toDevice, []);
    assertEquals([...earlier, event].map((each) => device.outcome(each)), [
      "KEY_TOO_NEW",
      "KEY_TOO_NEW",
      "text: three",
    ]);
  }
});

Deno.test("T37: a device that asks for earlier keys gets none that it has not been given, even where requests are answered", async () => {
  const { alice, bob, server } = await aliceAndBob({ policy: { answerKeyRequests: true } });
  const event = await alice.send("one");
  const injected = new RawDevice(server, bob.userId, "INJECTED").publish();
  server.mailbox(alice).changed.add(bob.userId);
  await alice.sync();
  await alice.ready();
  const inbox = server.mailbox(injected.own).toDevice;
  const firstIndices = [];
  for (const round of ["shared", "asked for"]) {
    assertEquals(inbox.length, 1, round);
    const { type, content } = injected.read(inbox.splice(0)[0] as ToDeviceEvent);
    const { session_key } = content as { session_key: string };
    const { megolm } = await Vodozemac.load();
    using session = type === "m.room_key"
      ? megolm.createInbound(session_key)
      : megolm.importInbound(session_key);
    firstIndices.push(session.firstKnownIndex);
    const { session_id, algorithm, sender_key } = event.content;
    const request = {
      action: "request",
      requesting_device_id: "INJECTED",
      request_id: round,
      body: { algorithm, room_id: event.room_id, session_id, sender_key },
    };
    const asking = { type: "m.room_key_request", sender: bob.userId, content: request, source: 0 };
    await alice.sync({ toDevice: [asking] });
  }
  assertEquals(firstIndices, [1, 1]);
});
