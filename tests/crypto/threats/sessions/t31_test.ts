/** A ciphertext that is shown again, as another event or in another room. */

import { assertEquals } from "@std/assert";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { knownSender, MALLORY, newDevice, Receiver, Sender, told } from "../../megolm/support.ts";

Deno.test("T31: a ciphertext that comes again as another event is refused, and the same event is not", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const event = sender.say("yes");
  const again = { ...event, event_id: "$again" as EventID };
  const later = { ...event, origin_server_ts: event.origin_server_ts + 1 };
  assertEquals((await receiver.decrypt(event, again, event, later)).map(told), [
    "yes",
    "REPLAYED",
    "yes",
    "REPLAYED",
  ]);
  assertEquals((await receiver.decrypt(again, event)).map(told), ["REPLAYED", "yes"]);
  receiver.restart();
  assertEquals((await receiver.decrypt(later, event)).map(told), ["REPLAYED", "yes"]);
});

Deno.test("T31: a ciphertext that comes again in another room is refused, even if its key does too", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const event = sender.say("yes");
  const room_id: RoomID = "!other:example.org";
  assertEquals(told(await receiver.one({ ...event, room_id })), "MISSING_KEY");
  // A room key names its room itself, and any recipient can name another one.
  const mallory = new Sender(receiver, receiver.devices.put(newDevice(receiver, MALLORY)));
  const { session_id, session_key } = sender.roomKey;
  await receiver.key(mallory, { session_id, session_key, room_id });
  assertEquals(told(await receiver.one({ ...event, room_id, sender: MALLORY })), "MALFORMED");
});
