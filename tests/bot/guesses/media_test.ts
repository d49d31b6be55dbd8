import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { trying } from "../support.ts";

Deno.test("Videos and recordings are sent as what they are, with a name, a type and a caption", async () => {
  await using tester = trying((bot) => {
    const data = new Uint8Array([1, 2, 3]);
    bot.command(
      "clip",
      (c) => c.sendVideo(data, { fileName: "a.mp4", mimeType: "video/mp4", caption: "A **clip**" }),
    );
    bot.command("song", (c) => c.sendAudio(new Blob([data], { type: "audio/ogg" })));
    bot.command("wrong", async (c) => {
      await assertRejects(
        () => c.sendVideo(data, { fileType: "m.audio" } as never),
        ValueError,
        "no option fileType",
      );
      await c.reply("refused");
    });
  });
  const room = await tester.room("alice");
  await room.say("!clip");
  const { content: clip } = await room.expect(/^A \*?\*?clip/);
  assertEquals([clip.msgtype, clip.filename, clip.info], ["m.video", "a.mp4", {
    mimetype: "video/mp4",
    size: 3,
  }]);
  await room.say("!song");
  await tester.until(() => room.messages.length === 2, "The bot was to send a song");
  const song = room.messages[1]?.content;
  assertEquals([song?.msgtype, song?.info], ["m.audio", { mimetype: "audio/ogg", size: 3 }]);
  await room.expect(/./);
  await room.say("!wrong");
  await room.expect("refused");
});
