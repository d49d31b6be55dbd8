import { assertEquals } from "@std/assert";
import { trying } from "../support.ts";

const DOT = Uint8Array.fromBase64("R0lGODlhAQABAIAAAAAA/wAAACwAAAAAAQABAAACAkQBADs=");

Deno.test("Images and files have captions, which are Markdown and notify who is linked", async () => {
  await using tester = trying((bot) => {
    bot.command(
      "dot",
      (c) =>
        c.sendImage(new Blob([DOT]), {
          filename: "dot.gif",
          caption: "**A dot** for [Alice](https://matrix.to/#/@alice:localhost)",
        }),
    );
    bot.command(
      "log",
      (c) => c.sendFile(DOT.buffer, { caption: "for *all*", format: "plain", mentions: ["room"] }),
    );
    bot.command("named", (c) => c.sendImage(new File([DOT], "own.gif")));
    bot.command("long", (c) => c.sendFile(DOT, { caption: "long\n\n".repeat(20_000) }));
  });
  const room = await tester.room("alice");
  for (const [index, command] of ["dot", "log", "named"].entries()) {
    await room.say(`!${command}`);
    await tester.until(() => room.messages.length === index + 1, command);
  }
  const [dot, log, named] = room.messages.map(({ content }) => content as Record<string, unknown>);
  assertEquals(
    [dot?.body, dot?.filename, dot?.format, dot?.["m.mentions"]],
    ["**A dot** for [Alice](https://matrix.to/#/@alice:localhost)", "dot.gif", "org.matrix.custom.html", {
      user_ids: ["@alice:localhost"],
    }],
  );
  assertEquals(
    [log?.body, log?.filename, log?.format, log?.["m.mentions"]],
    ["for *all*", "file", undefined, { room: true }],
  );
  assertEquals([named?.body, named?.filename], ["own.gif", "own.gif"]);
  await room.say("!long");
  await tester.until(
    () => tester.logged.some((line) => line.includes("Cannot send a caption")),
    "it is refused",
  );
  assertEquals(tester.homeserver.requests.filter("POST", "/upload").length, 3);
});

Deno.test("Images, files and stickers of a bot answer events, and stay in the thread", async () => {
  await using tester = trying((bot) => {
    bot.command("dot", (c) => c.sendImage(DOT, { replyTo: c.event.event_id }));
    bot.command("log", (c) => c.sendFile(DOT, { thread: c.event.event_id }));
    bot.command("wave", (c) =>
      c.sendSticker("mxc://localhost/wave", { w: 9, h: 9 }, {
        text: "A hand",
        replyTo: c.event.event_id,
        mentions: [c.sender],
      }));
  });
  const room = await tester.room("alice");
  const answers = () =>
    room.view().messages.filter(({ sender }) => sender !== "@alice:localhost")
      .map(({ content }) => content as Record<string, unknown>);
  const asked: string[] = [];
  for (const [index, command] of ["dot", "log", "wave"].entries()) {
    asked.push(await room.say(`!${command}`));
    await tester.until(() => answers().length > index, command);
  }
  const [dot, log, wave] = answers();
  assertEquals(dot?.["m.relates_to"], { "m.in_reply_to": { event_id: asked[0] } });
  assertEquals((log?.["m.relates_to"] as { event_id?: string }).event_id, asked[1]);
  assertEquals(wave, {
    body: "A hand",
    url: "mxc://localhost/wave",
    info: { w: 9, h: 9 },
    "m.mentions": { user_ids: ["@alice:localhost"] },
    "m.relates_to": { "m.in_reply_to": { event_id: asked[2] } },
  });
});

Deno.test("A function redacts its event, asks whether its sender is an admin, and leaves the room", async () => {
  const asked: boolean[] = [];
  await using tester = trying((bot) => {
    bot.command("secret", (c) => c.redact());
    bot.command("admin", async (c) => void asked.push(await c.isAdmin(), await c.isAdmin("@bob:localhost")));
    bot.command("go", async (c) => {
      await c.reply("Bye.");
      await c.leave("asked to");
    });
  }, { admins: ["@alice:localhost"] });
  const room = await tester.room("alice");
  await room.say("!secret");
  await tester.until(
    () => tester.homeserver.requests.filter("PUT", "/redact/").length === 1,
    "it is redacted",
  );
  await room.say("!admin");
  await tester.until(() => asked.length === 2, "it has asked");
  assertEquals(asked, [true, false]);
  await room.say("!go");
  await tester.until(() => tester.homeserver.requests.filter("POST", "/leave").length === 1, "it leaves");
  assertEquals(room.messages.at(-1)?.text, "Bye.");
});
