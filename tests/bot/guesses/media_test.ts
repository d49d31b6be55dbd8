import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { trying } from "../support.ts";

Deno.test("Videos and recordings are sent as what they are, with a name, a type and a caption", async () => {
  await using tester = trying((bot) => {
    const data = new Uint8Array([1, 2, 3]);
    bot.command(
      "clip",
      (c) => c.sendVideo(data, { filename: "a.mp4", mimeType: "video/mp4", caption: "A **clip**" }),
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

Deno.test("Clients are told how long a recording plays, and how large a video is", async () => {
  await using tester = trying((bot) => {
    const data = new Uint8Array([1]);
    bot.command("song", (c) => c.sendAudio(data, { filename: "a.ogg", duration: "3m" }));
    bot.command(
      "clip",
      (c) => c.sendVideo(data, { filename: "a.mp4", duration: 1_500, width: 64, height: 48 }),
    );
    bot.command("wrong", async (c) => {
      await assertRejects(
        () => c.sendAudio(data, { duration: "long" }),
        ValueError,
        "duration must be a time",
      );
      for (const size of [{ width: -1 }, { height: 1.5 }, { width: NaN }]) {
        await assertRejects(() => c.sendVideo(data, size), ValueError, "must be whole pixels");
      }
      await c.reply("refused");
    });
  });
  const room = await tester.room("alice");
  await room.say("!song");
  assertEquals((await room.expect("a.ogg")).content.info, { duration: 180_000, size: 1 });
  await room.say("!clip");
  assertEquals((await room.expect("a.mp4")).content.info, { duration: 1_500, w: 64, h: 48, size: 1 });
  await room.say("!wrong");
  await room.expect("refused");
  assertEquals(tester.homeserver.requests.filter("POST", "/upload").length, 2);
});

Deno.test("An image of a kind that the kit can't measure is sent with the media type that it is given", async () => {
  const svg = new TextEncoder().encode("<svg/>");
  await using tester = trying((bot) => {
    bot.command("drawing", (c) => c.sendImage(svg, { filename: "a.svg", mimeType: "image/svg+xml" }));
    bot.command("unknown", async (c) => {
      await assertRejects(() => c.sendImage(svg, { filename: "a.svg" }), ValueError);
      await c.reply("refused");
    });
  });
  const room = await tester.room("alice");
  await room.say("!drawing");
  const { content } = await room.expect("a.svg");
  assertEquals([content.msgtype, content.info], ["m.image", { mimetype: "image/svg+xml", size: 6 }]);
  await room.say("!unknown");
  await room.expect("refused");
});

Deno.test("An image has the media type that it is given, else what its bytes say, else a Blob's own", async () => {
  const svg = new Blob(["<svg/>"], { type: "image/svg+xml" });
  const gif = Uint8Array.fromBase64("R0lGODlhAQABAIAAAAAA/wAAACwAAAAAAQABAAACAkQBADs=");
  const page = new Blob(["<html>"], { type: "text/html" });
  await using tester = trying((bot) => {
    bot.command("drawing", (c) => c.sendImage(svg, { filename: "a.svg" }));
    bot.command("typed", (c) => c.sendImage(gif, { filename: "a.gif", mimeType: "image/x-own" }));
    bot.command("served", (c) => c.sendImage(new Blob([gif], { type: "text/plain" }), { filename: "b.gif" }));
    bot.command("page", async (c) => {
      await assertRejects(() => c.sendImage(page), ValueError, "Cannot measure the image");
      await c.reply("refused");
    });
  });
  const room = await tester.room("alice");
  const typeOf = async (name: string) => {
    const { content } = await room.expect(name);
    return (content.info as { mimetype?: string }).mimetype;
  };
  await room.say("!drawing");
  assertEquals(await typeOf("a.svg"), "image/svg+xml");
  await room.say("!typed");
  assertEquals(await typeOf("a.gif"), "image/x-own");
  await room.say("!served");
  assertEquals(await typeOf("b.gif"), "image/gif");
  await room.say("!page");
  await room.expect("refused");
});
