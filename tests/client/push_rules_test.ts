import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, ForbiddenError, ValueError } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import type { MessageEvent, PushResult } from "@greenroom/matrix/types";

/** Alice and bob in a room, and what alice's client finds of each message that she hears. */
async function stage() {
  const homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const of = (name: string) =>
    new Client({ baseUrl, fetch, log: false, accessToken: homeserver.createUser(name).accessToken });
  const [alice, bob] = [of("alice"), of("bob")];
  await Promise.all([alice, bob].map((client) => client.whoami()));
  const heard: MessageEvent[] = [];
  alice.on("m.room.message", (event) => void heard.push(event), { own: true });
  const room = await bob.createRoom({ invitees: ["@alice:localhost"] });
  await alice.joinRoom(room);
  await alice.syncOnce();
  /** What becomes of the messages that were sent since. */
  const results = async (): Promise<PushResult[]> => {
    await alice.syncOnce();
    return await Promise.all(heard.splice(0).map((event) => alice.pushRules.evaluate(event)));
  };
  return {
    ...{ homeserver, alice, bob, room, heard, results },
    [Symbol.asyncDispose]: async () => {
      for (const client of [alice, bob]) await client.close();
      await homeserver.close();
    },
  };
}

const brief = (
  { isNotified, isHighlighted, sound, rule }: PushResult,
) => [isNotified, isHighlighted, sound, rule?.rule_id];

Deno.test("pushRules.evaluate() tells messages, mentions, notices and own messages apart", async () => {
  await using at = await stage();
  const { alice, bob, room, results } = at;
  await bob.sendText(room, "hello");
  await bob.sendText(room, "hello alice", { mentions: { user_ids: ["@alice:localhost"] } });
  await bob.sendNotice(room, "a notice");
  await bob.sendText(room, "all", { mentions: { room: true } });
  await alice.sendText(room, "mine");
  assertEquals((await results()).map(brief), [
    [true, false, "default", ".m.rule.room_one_to_one"],
    [true, true, "default", ".m.rule.is_user_mention"],
    [false, false, undefined, ".m.rule.suppress_notices"],
    [true, true, undefined, ".m.rule.is_room_mention"],
    [false, false, undefined, undefined],
  ]);
});

Deno.test("pushRules.evaluate() reads the rules once, and follows what is changed", async () => {
  await using at = await stage();
  const { alice, bob, room, homeserver, results } = at;
  await bob.sendText(room, "one");
  await bob.sendText(room, "two");
  assertEquals((await results()).map(({ isNotified }) => isNotified), [true, true]);
  assertEquals(homeserver.requests.filter("GET", "/pushrules/global/").length, 1);
  await alice.setPushRule("global", "room", room, []);
  await alice.syncOnce();
  await bob.sendText(room, "three");
  assertEquals((await results()).map(brief), [[false, false, undefined, room]]);
  assertEquals(homeserver.requests.filter("GET", "/pushrules/global/").length, 1);
});

Deno.test("pushRules.evaluate() knows who has joined the room", async () => {
  await using at = await stage();
  const { bob, room, homeserver, results, alice } = at;
  const { accessToken } = homeserver.createUser("carol");
  const { baseUrl, fetch } = homeserver;
  await using carol = new Client({ baseUrl, fetch, accessToken, log: false });
  await bob.inviteUser(room, "@carol:localhost");
  await bob.sendText(room, "two of us");
  assertEquals((await results()).map(({ rule }) => rule?.rule_id), [".m.rule.room_one_to_one"]);
  await carol.joinRoom(room);
  await alice.syncOnce();
  await bob.sendText(room, "three of us");
  assertEquals((await results()).map(({ rule }) => rule?.rule_id), [".m.rule.message"]);
});

Deno.test("pushRules.evaluate() refuses what is of no room, leaves out what is no rule, and asks again where it failed", async () => {
  await using at = await stage();
  const { alice, bob, room, homeserver, results, heard } = at;
  await bob.sendText(room, "one");
  await alice.syncOnce();
  const [event] = heard.splice(0);
  assert(event !== undefined);
  const failing = { kind: "status", status: 403, body: { errcode: "M_FORBIDDEN", error: "No" } } as const;
  const fault = homeserver.faults.add({ ...failing, match: { path: "/pushrules/global/" } });
  await assertRejects(() => alice.pushRules.evaluate(event), ForbiddenError);
  fault.remove();
  const odd = homeserver.faults.add({
    kind: "status",
    status: 200,
    body: {
      override: 7,
      underride: [{ rule_id: 5 }],
    },
    match: { path: "/pushrules/global/" },
  });
  assertEquals(brief(await alice.pushRules.evaluate(event)), [false, false, undefined, undefined]);
  odd.remove();
  assertEquals(await results(), []);
  await assertRejects(
    () => alice.pushRules.evaluate({ type: "m.presence", sender: "@bob:localhost", content: {}, source: 0 }),
    ValueError,
    "the event has no room_id",
  );
});

Deno.test("pushRules.evaluate() counts members once, until one comes or goes, and only where a rule asks", async () => {
  await using at = await stage();
  const { alice, bob, room, results } = at;
  await bob.sendText(room, "before");
  await results();
  let counts = 0;
  const { stateStore } = alice;
  const getMembers = stateStore.getMembers.bind(stateStore);
  stateStore.getMembers = (...given) => {
    counts++;
    return getMembers(...given);
  };
  for (const text of ["one", "two"]) {
    await bob.sendText(room, text);
    await results();
  }
  await bob.react(room, await bob.sendText(room, "three"), "👍");
  await results();
  assertEquals(counts, 0); // known since before
  await bob.setDisplayname("Robert"); // a member changes
  await bob.sendText(room, "four");
  await results();
  assertEquals(counts, 1);
});
