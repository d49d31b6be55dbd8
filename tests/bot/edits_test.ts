import { assertEquals } from "@std/assert";
import { trying } from "./support.ts";

Deno.test("An edit counts only if its sender wrote what it edits", async () => {
  const heard: string[] = [];
  await using tester = trying((bot) => bot.on("edit", (c) => void heard.push(`${c.sender} ${c.text}`)));
  const room = await tester.room("alice", "bob");
  const first = await room.say("one");
  const edit = (body: string, event_id: string) => ({
    msgtype: "m.text",
    body: `* ${body}`,
    "m.new_content": { msgtype: "m.text", body },
    "m.relates_to": { rel_type: "m.replace", event_id },
  });
  await room.as("bob").send("m.room.message", edit("forged", first));
  await room.send("m.room.message", {
    ...edit("of nothing", first),
    "m.relates_to": { rel_type: "m.replace" },
  });
  await room.send("m.room.message", edit("two", first));
  await tester.settle();
  assertEquals(heard, ["@alice:localhost two"]);
});
