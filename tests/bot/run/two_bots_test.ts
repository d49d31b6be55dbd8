import { assertEquals } from "@std/assert";
import type { RoomID } from "@greenroom/matrix/types";
import type { Bot } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

/** Two bots in one process, each on a homeserver of its own: what the first does at `!go`. */
async function goes(
  act: (first: Bot, second: Bot, room: RoomID) => Promise<void>,
): Promise<{ value: unknown; said: string[] }> {
  let second: Bot | undefined;
  await using other = trying((bot) => second = bot);
  const room = await other.room("bob");
  const acted = Promise.withResolvers<void>();
  await using tester = trying((first) => {
    first.command("go", async () => {
      if (second === undefined) throw new TypeError("there is no second bot");
      await act(first, second, room.id).then(acted.resolve, acted.reject);
    });
  });
  const asking = await tester.room("alice");
  await asking.say("!go");
  await acted.promise;
  await other.settle();
  return { value: await second?.store.get("key"), said: room.messages.map(({ text }) => text) };
}

Deno.test("What a function keeps in the store of another bot is there", async () => {
  const { value } = await goes((_first, second) => second.store.set("key", "kept"));
  assertEquals(value, "kept");
});

Deno.test("A function that closes its bot may go on with another one", async () => {
  const { value, said } = await goes(async (first, second, room) => {
    await first.close();
    await second.store.set("key", "kept");
    await second.send(room, "I am the next");
  });
  assertEquals([value, said], ["kept", ["I am the next"]]);
});
