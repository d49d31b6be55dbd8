// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { Client, NotFoundError, ValueError } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import type { EventID } from "@greenroom/matrix/types";

/** What the client answers. */
const stated = (client: Client) => client.getStateEvent("!room:example.org", "m.room.name");
const ROOM_ID = "!room:example.org";

/** What rooms have of their own. */
const OWN = ["constructor", "getName", "getTopic", "getPowerLevel", "toString", "toJSON"];

/** A client that notes what it is asked for. */
function noting(): { readonly client: Client; readonly asked: unknown[][] } {
  const client = new Client({ baseUrl: "https://matrix.example.org" });
  const asked: unknown[][] = [];
  for (const name in client) {
    if (typeof client[name as "sendText"] === "function") {
      Object.defineProperty(client, name, {
        value: (...given: unknown[]) => void asked.push([name, ...given]),
      });
    }
  }
  return { client, asked };
}

Deno.test("Each operation of a room is one of the client, with the room in front", async () => {
  const { client, asked } = noting();
  const room = client.room(ROOM_ID);
  const operations = Object.getOwnPropertyNames(Object.getPrototypeOf(room)).filter((name) =>
    !OWN.includes(name) &&
    typeof Object.getOwnPropertyDescriptor(Object.getPrototypeOf(room), name)?.value === "function"
  );
  for (const name of operations) {
    (room as unknown as Record<string, (given: string) => unknown>)[name]?.("given");
  }
  assertEquals(asked.length, operations.length);
  for (const [index, [name, ...given]] of asked.entries()) {
    assertEquals(given, [ROOM_ID, "given"]);
    assertEquals(String(name).replace(/Room(?!s)/, "").replace(/User$/, ""), operations[index]);
  }
  for (const each of ["sendText", "invite", "leave", "isEncrypted", "setTag", "queue", "getMembers"]) {
    assertEquals(operations.includes(each), true, each);
  }
  await client.close();
});

Deno.test("A room does what the client does, with its types", async () => {
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("alice");
  await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
  const room = client.room(await client.createRoom({ name: "Green room" }));
  const eventId = await room.sendText("Beginners, please");
  assertType<IsExact<typeof eventId, EventID>>(true);
  await room.edit(eventId, "Beginners!");
  await room.react(eventId, "🎭");
  const name = await room.getStateEvent("m.room.name");
  assertType<IsExact<typeof name, Awaited<ReturnType<typeof stated>>>>(true);
  assertEquals([name.name, await room.isEncrypted()], ["Green room", false]);
  assertEquals(`${room} ${JSON.stringify([room])}`, `${room.id} ["${room.id}"]`);
  assertEquals(homeserver.room(room.id).messages.map(({ type }) => type), [
    ...["m.room.message", "m.room.message", "m.reaction"],
  ]);
  await assertRejects(() => room.getEvent("$gone"), NotFoundError);
});

Deno.test("A room reads its name, its topic and levels from the store", async () => {
  await using homeserver = new Homeserver();
  const { accessToken, userId } = homeserver.createUser("alice");
  await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
  const room = client.room(await client.createRoom({ name: "Green room", topic: "Tea" }));
  assertEquals([await room.getName(), await room.getTopic(), await room.getPowerLevel(userId)], [
    undefined,
    undefined,
    0,
  ]);
  await client.syncOnce();
  assertEquals([await room.getName(), await room.getTopic(), await room.getPowerLevel(userId)], [
    "Green room",
    "Tea",
    Infinity,
  ]);
});

Deno.test("What is no room is refused, and names of other libraries say what to write", async () => {
  await using client = new Client({ baseUrl: "https://matrix.example.org" });
  assertThrows(() => client.room("#alias:example.org"), ValueError);
  const room = client.room(ROOM_ID) as unknown as Record<string, unknown>;
  assertThrows(() => room.name, ValueError, "write await room.getName()");
  assertThrows(() => room.send, ValueError, "write room.sendText(text)");
});
