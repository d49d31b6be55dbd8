import { trying } from "./support.ts";

Deno.test("reaction() hears reactions with its keys, however a client writes them, and no others", async () => {
  await using tester = trying((bot) => {
    bot.reaction(["❤", "👍"], (c) => c.send(`liked ${c.event.content["m.relates_to"].event_id}`));
  });
  const room = await tester.room("alice");
  const said = await room.say("hello");
  for (const key of ["\u2764\uFE0F", "👎", "👍"]) {
    await tester.request("alice", "PUT", `/rooms/${encodeURIComponent(room.id)}/send/m.reaction/${key}`, {
      "m.relates_to": { rel_type: "m.annotation", event_id: said, key },
    });
  }
  await room.expect(`liked ${said}`);
  await room.expect(`liked ${said}`);
  await room.expectNothing();
});
