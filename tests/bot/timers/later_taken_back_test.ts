import { assert, assertEquals } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import type { Bot } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";
import { EVERYBODY } from "../../support/everybody.ts";
import { encryptedUser } from "../encrypted_user.ts";
import { trying } from "../support.ts";

const MINUTE = 60_000;

Deno.test("What was refused is not said: not by the homeserver either", async () => {
  await using tester = trying((bot) => {
    bot.command("later", async (c) => {
      for (const text of ["one", "two", "three"]) {
        await c.later("10m", text).catch((error) => assert(error instanceof ValueError));
      }
      await c.reply("Done");
    });
  }, { maxReminders: 1 });
  const room = await tester.room("alice");
  await room.say("!later");
  await room.expect("Done");
  await tester.pass(11 * MINUTE);
  await room.expect("one");
  await room.expectNothing();
});

Deno.test("What a command that fails has set is not said, and counts no more", async () => {
  await using tester = trying((bot) => {
    bot.command("fail", async (c) => {
      await c.later("10m", "said");
      throw new RangeError("Failed");
    });
    bot.command("later", async (c) => {
      await c.later("20m", "Curtain");
      await c.reply("Noted");
    });
  }, { maxReminders: 1 });
  const room = await tester.room("alice");
  await room.say("!fail");
  await room.expect("Sorry, that failed.");
  await room.say("!later");
  await room.expect("Noted");
  await tester.pass(11 * MINUTE);
  await room.expectNothing();
});

Deno.test("What the homeserver was to say into a room that is encrypted since then the bot says in time, encrypted", async () => {
  await using tester = trying((bot) => {
    bot.command("later", async (c) => {
      await c.later("10m", "**Curtain**");
      await c.reply("Noted");
    });
  }, { encryption: EVERYBODY });
  await using alice = await encryptedUser(tester, "alice");
  const room = await alice.room({ encrypted: false });
  const others = await alice.room({ encrypted: false });
  await alice.say(room, "!later");
  await alice.expect("Noted");
  await alice.say(others, "!later");
  await alice.expect("Noted");
  await alice.encrypt(room);
  await tester.restart();
  await tester.pass(10 * MINUTE - 1_000);
  await alice.expectNothing();
  await tester.pass(1_000);
  await alice.expect("**Curtain**");
  await alice.expect("**Curtain**");
  await tester.pass(MINUTE);
  await alice.expectNothing();
  assertEquals(typesIn(tester, room), ["m.room.message", "m.room.encrypted"]);
  assertEquals(typesIn(tester, others), ["m.room.message", "m.room.message"]);
});

/** The types of what a bot has said in a room. */
function typesIn({ homeserver, mxid }: BotTester, room: RoomID): string[] {
  return homeserver.room(room).messages.filter(({ sender }) => sender === mxid).map(({ type }) => type);
}

Deno.test("What a command has set whose room is encrypted before it ends is said encrypted", async () => {
  const [began, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using tester = trying((bot) => {
    bot.command("later", async (c) => {
      await c.later("10m", "Secret");
      began.resolve();
      await gate.promise;
      await c.reply("Noted");
    });
  }, { encryption: EVERYBODY });
  await using alice = await encryptedUser(tester, "alice");
  const room = await alice.room({ encrypted: false });
  await alice.say(room, "!later");
  await began.promise;
  await alice.encrypt(room);
  gate.resolve();
  await alice.expect("Noted");
  await tester.pass(10 * MINUTE);
  await alice.expect("Secret");
  await tester.pass(MINUTE);
  await alice.expectNothing();
  assertEquals(typesIn(tester, room), ["m.room.encrypted", "m.room.encrypted"]);
});

Deno.test("What the homeserver refuses to give back once does not keep other texts there, and is asked for again", async () => {
  await using tester = trying((bot) => {
    bot.command("later", async (c) => {
      for (const text of ["one", "two", "three"]) await c.later("10m", text);
      await c.reply("Noted");
    });
  }, { encryption: EVERYBODY });
  const { homeserver, mxid: user } = tester;
  await using alice = await encryptedUser(tester, "alice");
  const room = await alice.room({ encrypted: false });
  await alice.say(room, "!later");
  await alice.expect("Noted");
  homeserver.faults.add({
    ...{ kind: "status", status: 403, match: { method: "POST", path: "/delayed_events/", user }, times: 1 },
    body: { errcode: "M_FORBIDDEN", error: "No" },
  });
  await alice.encrypt(room);
  await tester.pass(MINUTE);
  await tester.pass(9 * MINUTE);
  await tester.settle();
  assertEquals(typesIn(tester, room), ["m.room.message", ...Array(3).fill("m.room.encrypted")]);
});

Deno.test("What the homeserver has said before its command failed stays, and counts no more", async () => {
  let made: Bot | undefined;
  await using tester = trying((bot) => {
    made = bot;
    bot.command("fail", async (c) => {
      await c.later("1s", "said");
      await c.client.api.clock.delay(2_000);
      throw new RangeError("Failed");
    });
    bot.command("later", async (c) => {
      await c.later("20m", "Curtain");
      await c.reply("Noted");
    });
  }, { maxReminders: 1 });
  const room = await tester.room("alice");
  await room.say("!fail");
  await tester.pass(2_000);
  await room.expect("said");
  await room.expect("Sorry, that failed.");
  assertEquals(tester.logged.filter((line) => line.includes("may be sent though")), []);
  await room.say("!later");
  await room.expect("Noted");
  await tester.pass(MINUTE);
  await room.expectNothing();
  assertEquals((await made?.client.listDelayedEvents())?.length, 1);
});

Deno.test("What can't be taken back when its command fails is said once, and the log says so", async () => {
  await using tester = trying((bot) => {
    bot.command("fail", async (c) => {
      await c.later("10m", "said");
      throw new RangeError("Failed");
    });
  });
  const { homeserver, mxid: user } = tester;
  const room = await tester.room("alice");
  const refused = homeserver.faults.add({
    ...{ kind: "status", status: 403, match: { method: "POST", path: "/delayed_events/", user } },
    body: { errcode: "M_FORBIDDEN", error: "No" },
  });
  await room.say("!fail");
  await room.expect("Sorry, that failed.");
  await tester.settle();
  refused.remove();
  assertEquals(
    tester.logged.filter((line) => line.includes("may be sent though its command has failed")).length,
    1,
  );
  await tester.pass(11 * MINUTE);
  await room.expect("said");
  await room.expectNothing();
});

Deno.test("What a homeserver that fails could not be given is not said, and counts no more", async () => {
  await using tester = trying((bot) => {
    bot.command("later", async (c) => {
      const outcome = await c.later("10m", "Curtain").then(() => "Noted", () => "Failed");
      await c.reply(outcome);
    });
  }, { maxReminders: 1 });
  const { homeserver, mxid: user } = tester;
  const room = await tester.room("alice");
  const match = { method: "PUT", path: "/send/", user };
  const body = { errcode: "M_TOO_LARGE", error: "Too large" };
  homeserver.faults.add({ kind: "status", status: 413, body, match, times: 1 });
  await room.say("!later");
  await room.expect("Failed");
  await room.say("!later");
  await room.expect("Noted");
  await tester.pass(11 * MINUTE);
  await room.expect("Curtain");
  await room.expectNothing();
});

Deno.test("What the homeserver has said at its time, since that could not begin again, is not said again if redacted", async () => {
  await using tester = trying((bot) => {
    let id = "";
    bot.command("later", async (c) => {
      id = await c.later("10m", "Curtain");
      await c.reply("Noted");
    });
    bot.command("restart", async () => void await bot.later.restart(id));
  });
  const { homeserver, mxid: user } = tester;
  const room = await tester.room("alice");
  await room.say("!later");
  await room.expect("Noted");
  await tester.pass(5 * MINUTE);
  homeserver.faults.add({
    ...{ kind: "status", status: 403, match: { method: "POST", path: "/delayed_events/", user }, times: 1 },
    body: { errcode: "M_FORBIDDEN", error: "No" },
  });
  await room.say("!restart");
  await room.expect("Sorry, that failed.");
  await tester.pass(5 * MINUTE);
  const said = () => homeserver.room(room.id).messages.filter(({ sender }) => sender === user);
  const path = [room.id, "redact", `${said().at(-1)?.event_id}`, "1"].map(encodeURIComponent).join("/");
  await tester.request("alice", "PUT", `/rooms/${path}`, {});
  await tester.pass(6 * MINUTE);
  assertEquals(said().map(({ content }) => content.body), ["Noted", "Sorry, that failed.", undefined]);
});
