/** An encrypted event that contains state, or comes as state. */

import { assertEquals } from "@std/assert";
import { knownSender, read, Receiver, told } from "../../megolm/support.ts";

Deno.test("T42: what is inside an encrypted event is never state", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const content = { membership: "join" };
  const masks = [
    { type: "m.room.member", content },
    { type: "m.room.member", content, state_key: "@me:example.org" },
    { type: "m.room.power_levels", content },
    { type: "m.room.encryption", content },
    { type: "m.room.name", content },
    { type: "m.space.child", content },
    { type: "org.example.custom", content, state_key: "" },
    { type: "org.example.custom", content, state_key: null },
    // Nor anything else that a member can't send as a message.
    { type: "m.room.redaction", content: { redacts: "$x" } },
    { type: "m.typing", content },
    { type: "m.room_key", content },
    { type: "SYNC_STARTED", content },
  ];
  const decrypted = await receiver.decrypt(...masks.map((mask) => sender.wrap(mask)));
  assertEquals(decrypted.map(told), masks.map(() => "MALFORMED"));
});

Deno.test("T42: an encrypted event that comes as state is refused, and a custom message goes through as one", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const event = sender.wrap({ type: "org.example.custom", content: { body: "hi" } });
  assertEquals(told(await receiver.one({ ...event, state_key: "" } as unknown as typeof event)), "MALFORMED");
  const custom = read(await receiver.one(event));
  assertEquals([custom.type, "state_key" in custom], ["org.example.custom", false]);
});
