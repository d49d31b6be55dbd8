import { assert, assertEquals, assertMatch } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { trying } from "./support.ts";

Deno.test("What a bot can't read is in its log, with the mend, once for each sender and reason", async () => {
  await using tester = trying((bot) => void bot.command("ping", (c) => c.reply("pong")), {
    encryption: { accept: "cross-signed", sendTo: "cross-signed" },
  });
  const room = await tester.room("alice"); // whose device nobody has signed
  const { baseUrl, fetch } = tester.homeserver;
  const { accessToken: token } = tester.homeserver.createUser("carol");
  const log = false;
  const encryption = { accept: "all", sendTo: "all" } as const;
  await using carol = new Client({ baseUrl, fetch, token, clock: tester.clock, log, encryption });
  const running = carol.start();
  await tester.settle();
  const initialState = [{
    type: "m.room.encryption",
    state_key: "",
    content: { algorithm: "m.megolm.v1.aes-sha2" },
  }];
  const invitees = [tester.mxid];
  const secret = await carol.createRoom({ preset: "private_chat", invitees, initialState });
  await tester.until(() => tester.homeserver.room(secret).membership(tester.mxid) === "join", "not joined");
  for (let times = 0; times < 3; times++) {
    const sent = carol.sendText(secret, "!ping");
    await tester.until(() => tester.homeserver.room(secret).messages.length > times, "not sent");
    await sent;
  }
  const unread = () => tester.logged.filter((line) => line.includes("unless the device that sent it"));
  await tester.until(() => unread().length > 0, "nothing is logged");
  await tester.settle();
  assertEquals(unread().length, 1);
  assertMatch(unread()[0] ?? "", /@carol:localhost.*encryption\.accept/s);
  await room.expectNothing();
  await carol.close();
  await running;
});

Deno.test("A bot without encryption says once for each room that it can't read, and what to do", async () => {
  await using tester = trying((bot) => void bot.command("ping", (c) => c.reply("pong")));
  const [one, two] = [await tester.room("alice"), await tester.room("bob")];
  const secret = { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "…", session_id: "s" };
  const unread = () => tester.logged.filter((line) => line.includes("can't be read"));
  for (let times = 0; times < 3; times++) await one.send("m.room.encrypted", secret);
  await one.expectNothing();
  assertEquals(unread().length, 1);
  assertMatch(unread()[0] ?? "", /encryption and store.*MATRIX_STORE.*--unstable-kv/);
  assert(unread()[0]?.includes(one.id));
  await two.send("m.room.encrypted", secret);
  await one.say("!ping");
  await one.expect("pong");
  assertEquals(unread().map((line) => line.includes(two.id)), [false, true]);
});
