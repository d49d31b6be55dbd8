/** Malformed payloads of encrypted events: no UTF-8, nested without end, encrypted again. */

import { assertEquals } from "@std/assert";
import { knownSender, read, Receiver, ROOM, told } from "../../megolm/support.ts";

const message = (content: string) => `{"room_id":"${ROOM}","type":"m.room.message","content":${content}}`;

Deno.test("T44: what is not JSON in UTF-8, nested too deeply or encrypted once more is refused", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const utf8 = (text: string) => new TextEncoder().encode(text);
  const badUtf8 = utf8(message('{"body":"?"}'));
  badUtf8[badUtf8.indexOf(0x3f)] = 0xff;
  const plaintexts: Record<string, string | Uint8Array> = {
    "bad UTF-8": badUtf8,
    "a surrogate in UTF-8": Uint8Array.from([...utf8(message("{}")).subarray(0, -2), 0xed, 0xa0, 0x80]),
    "a byte order mark": `\uFEFF${message("{}")}`,
    "no JSON": "hello",
    "nothing": "",
    "null": "null",
    "an array": "[]",
    "a number": "1",
    "deep arrays": message(`{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`),
    "deep objects": message(`${'{"a":'.repeat(101)}1${"}".repeat(101)}`),
    "nested encryption": JSON.stringify({ room_id: ROOM, type: "m.room.encrypted", content: {} }),
    "no type": JSON.stringify({ room_id: ROOM, content: {} }),
    "a type that is no text": JSON.stringify({ room_id: ROOM, type: ["m.room.message"], content: {} }),
    "an endless type": JSON.stringify({ room_id: ROOM, type: "x".repeat(300), content: {} }),
    "no content": JSON.stringify({ room_id: ROOM, type: "m.room.message" }),
    "content that is none": JSON.stringify({ room_id: ROOM, type: "m.room.message", content: [] }),
    "no room": JSON.stringify({ type: "m.room.message", content: {} }),
    "another room": JSON.stringify({ room_id: "!other:example.org", type: "m.room.message", content: {} }),
  };
  for (const [name, plaintext] of Object.entries(plaintexts)) {
    assertEquals([name, told(await receiver.one(sender.seal(plaintext)))], [name, "MALFORMED"]);
  }
});

Deno.test("T44: content of ordinary nesting is accepted", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const content = `{"body":"deep","a":${"[".repeat(90)}${"]".repeat(90)}}`;
  assertEquals(told(await receiver.one(sender.seal(message(content)))), "deep");
});

Deno.test("T44, T26: names inside that mean something to JavaScript mean nothing here", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const event = read(await receiver.one(sender.seal(message('{"body":"x","__proto__":{"polluted":true}}'))));
  assertEquals(Object.getPrototypeOf(event.content), Object.prototype);
  assertEquals((event.content as { polluted?: unknown }).polluted, undefined);
  assertEquals(({} as { polluted?: unknown }).polluted, undefined);
});
