import { assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { trying } from "../support.ts";

Deno.test("markRead() says that the room is read up to the event", async () => {
  await using tester = trying((bot) => {
    bot.on("message", (c) => c.text === "skip" ? undefined : c.markRead());
  });
  const room = await tester.room("alice");
  const read = await room.say("one");
  await room.say("skip");
  await tester.settle();
  const { rooms } = await tester.request("alice", "GET", "/sync") as {
    rooms: { join: Record<string, { ephemeral: { events: { type: string; content: object }[] } }> };
  };
  const receipts = rooms.join[room.id]?.ephemeral.events.filter(({ type }) => type === "m.receipt") ?? [];
  assertEquals(
    receipts.flatMap(({ content }) =>
      Object.entries(content).map(([id, kinds]) => [id, Object.keys(kinds["m.read"])])
    ),
    [[read, [tester.mxid]]],
  );
});

Deno.test("markRead() refuses an invitation, which has no ID", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  await using tester = trying(
    (bot) => void bot.on("invite", async (c) => resolve(await c.markRead().catch((error) => error))),
    { autoJoin: false },
  );
  void tester.room("alice").catch(() => {});
  const error = await promise;
  assertInstanceOf(error, ValueError);
  assertStringIncludes(error.message, "it has none");
});
