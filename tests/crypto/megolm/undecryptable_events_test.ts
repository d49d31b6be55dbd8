import { assert, assertEquals, assertRejects } from "@std/assert";
import { TestClock } from "@greenroom/matrix/testing";
import type { Undecryptable } from "../../../src/crypto/megolm/encrypted_event.ts";
import type { UndecryptableCode } from "@greenroom/matrix/types";
import { Keeper, stranger, texts } from "./keeper.ts";
import { ALICE, failure, knownSender, newDevice, ROOM, Sender } from "./support.ts";

Deno.test("S28: events whose key comes later are decrypted then, in the order in which they came", async () => {
  const keeper = new Keeper();
  const [one, two] = [stranger(keeper), stranger(keeper)];
  const events = [one.say("1"), two.say("2"), one.say("3"), two.say("4")];
  assertEquals(await keeper.sync(...events.slice(2)), ["kept", "kept"]);
  assertEquals(await keeper.sync(...events.slice(0, 2)), ["kept", "kept"]);
  assertEquals(texts(await keeper.retry([one, two])), []);
  await keeper.key(one);
  await keeper.key(two);
  const recovered = await keeper.retry([two, one]);
  assertEquals(texts(recovered), ["3", "4", "1", "2"]);
  assertEquals(recovered[0]?.encryption.senderTrust, "unverified-identity");
  assertEquals(recovered[0]?.ref, { roomId: ROOM, eventId: events[2]?.event_id });
});

Deno.test("only the events of the sessions whose keys came are tried", async () => {
  const keeper = new Keeper();
  const [one, two] = [stranger(keeper), stranger(keeper)];
  await keeper.sync(one.say("1"), two.say("2"));
  await keeper.key(one);
  await keeper.key(two);
  assertEquals(texts(await keeper.retry([two])), ["2"]);
});

Deno.test("a recovered event is handed out once in a process, and kept until it was handled", async () => {
  const keeper = new Keeper();
  const sender = stranger(keeper);
  await keeper.sync(sender.say("hello"));
  await keeper.key(sender);
  const recovered = await keeper.retry([sender]);
  assertEquals(texts(recovered), ["hello"]);
  assertEquals(texts(await keeper.retry([sender])), []);
  assertEquals(texts(await keeper.retry("all")), []);
  assertEquals(await keeper.records(), 1);
  await keeper.settle(recovered);
  assertEquals(await keeper.records(), 0);
  await keeper.reopen();
  assertEquals(texts(await keeper.retry("all")), []);
});

Deno.test("a recovered event that was not handled before the end of the process is handed out again", async () => {
  const keeper = new Keeper();
  const sender = stranger(keeper);
  const events = Array.from({ length: 12 }, (_, index) => sender.say(`${index}`));
  for (const event of events) await keeper.sync(event);
  await keeper.key(sender);
  const recovered = await keeper.retry([sender]);
  await keeper.settle(recovered.slice(0, 2));
  await keeper.reopen();
  assertEquals(texts(await keeper.retry("all")), events.slice(2).map((_, index) => `${index + 2}`));
  assertEquals(texts(await keeper.retry("all")), []);
});

Deno.test("events that are kept after a restart come after those that were kept before", async () => {
  const keeper = new Keeper();
  const sender = stranger(keeper);
  const events = Array.from(
    { length: 3 },
    (_, index) => sender.say(`${index}`, { event_id: `$${3 - index}` }),
  );
  for (const event of events) {
    await keeper.sync(event);
    await keeper.reopen();
  }
  await keeper.key(sender);
  assertEquals(texts(await keeper.retry([sender])), ["0", "1", "2"]);
});

Deno.test("after a restart, too, the oldest event goes first", async () => {
  const keeper = new Keeper({ limit: 3 });
  const sender = stranger(keeper);
  const events = Array.from(
    { length: 4 },
    (_, index) => sender.say(`${index}`, { event_id: `$${9 - index}` }),
  );
  await keeper.sync(...events.slice(0, 3));
  await keeper.reopen();
  await keeper.sync(...events.slice(3));
  await keeper.key(sender);
  assertEquals(texts(await keeper.retry([sender])), ["1", "2", "3"]);
});

Deno.test("events of several rooms are recovered in the order in which they came", async () => {
  const keeper = new Keeper();
  const { device } = stranger(keeper);
  const senders = (["!a:example.org", "!b:example.org"] as const).map((room) =>
    new Sender(keeper, device, room)
  );
  for (const body of ["1", "2"]) {
    for (const sender of senders) await keeper.sync(sender.say(body + sender.roomId));
  }
  for (const sender of senders) await keeper.key(sender);
  assertEquals(texts(await keeper.retry("all")), [
    "1!a:example.org",
    "1!b:example.org",
    "2!a:example.org",
    "2!b:example.org",
  ]);
});

Deno.test("an event that comes again is neither kept nor delivered a second time", async () => {
  const keeper = new Keeper();
  const sender = stranger(keeper);
  const event = sender.say("hello");
  assertEquals(await keeper.sync(event), ["kept"]);
  assertEquals(await keeper.sync(event, event), ["not kept", "not kept"]);
  await keeper.key(sender);
  const recovered = await keeper.retry([sender]);
  assertEquals(await keeper.sync(event), ["not again"]);
  await keeper.settle(recovered);
  assertEquals(await keeper.sync(event), ["hello"]); // delivery records what was handled
});

Deno.test("an event that comes again and can be read does not wait any more", async () => {
  const keeper = new Keeper();
  const sender = stranger(keeper);
  const event = sender.say("hello");
  await keeper.sync(event);
  await keeper.key(sender);
  assertEquals(await keeper.sync(event), ["hello"]);
  assertEquals(texts(await keeper.retry([sender])), []);
  assertEquals(await keeper.records(), 0);
});

Deno.test("events that will never be readable are not kept, and keys that are there not asked for", async () => {
  const keeper = new Keeper();
  const sender = stranger(keeper);
  const expected: Record<UndecryptableCode, [asked: boolean, kept: number]> = {
    MISSING_KEY: [true, 1],
    WITHHELD: [true, 1],
    KEY_TOO_NEW: [true, 1],
    UNTRUSTED: [false, 1],
    REPLAYED: [false, 0],
    MALFORMED: [false, 0],
    UNSUPPORTED_ALGORITHM: [false, 0],
  };
  for (const [code, [asked, kept]] of Object.entries(expected)) {
    const event = sender.say(code);
    const before = await keeper.records();
    const why = { code, reason: "" } as Undecryptable;
    assertEquals([code, await keeper.step((tx) => keeper.undecryptable.add(tx, event, why))], [code, asked]);
    assertEquals([code, await keeper.records() - before], [code, kept]);
  }
});

Deno.test("an event that turns out to be no good when its key comes is dropped", async () => {
  const keeper = new Keeper();
  const sender = stranger(keeper);
  await keeper.sync(sender.wrap({ type: "m.room.member", content: {} }));
  await keeper.key(sender);
  assertEquals(texts(await keeper.retry([sender])), []);
  assertEquals(await keeper.records(), 0);
});

Deno.test("events that were not trusted enough are read when the device is", async () => {
  const keeper = new Keeper({ policy: { accept: "cross-signed" } });
  const sender = await knownSender(keeper, ALICE, { trust: "unsigned" });
  const other = stranger(keeper);
  await keeper.sync(sender.say("hello"), other.say("no key"));
  assertEquals(texts(await keeper.retry("all")), []);
  await keeper.key(other); // whose session is not named below
  keeper.devices.put({ ...sender.device, trust: "verified" });
  assertEquals(texts(await keeper.retry("all")), ["hello"]);
  assertEquals(texts(await keeper.retry([other])), ["no key"]);
});

Deno.test("an event that first lacked its key and then trust waits for trust, across restarts", async () => {
  const keeper = new Keeper({ policy: { accept: "cross-signed" } });
  const sender = new Sender(keeper, keeper.devices.put(newDevice(keeper, ALICE, { trust: "unsigned" })));
  await keeper.sync(sender.say("hello"));
  await keeper.key(sender);
  await keeper.retry("all");
  await keeper.reopen();
  await keeper.retry("all");
  keeper.devices.put({ ...sender.device, trust: "cross-signed" });
  assertEquals(texts(await keeper.retry("all")), ["hello"]);
});

Deno.test("no room can crowd out the events of another", async () => {
  const keeper = new Keeper({ limit: 10 });
  const quiet = stranger(keeper);
  await keeper.sync(quiet.say("quiet 1"), quiet.say("quiet 2"));
  const loud = new Sender(keeper, keeper.devices.put(newDevice(keeper, ALICE)), "!loud:example.org");
  await keeper.sync(...Array.from({ length: 50 }, (_, index) => loud.say(`loud ${index}`)));
  assertEquals(keeper.undecryptable.size, 10);
  assertEquals(await keeper.records(), 10);
  await keeper.key(quiet);
  await keeper.key(loud);
  const sessions = [loud, quiet].map(({ sessionId, roomId }) => ({ roomId, sessionId }));
  const recovered = await keeper.step((tx) => keeper.undecryptable.retry(tx, sessions));
  const newest = Array.from({ length: 8 }, (_, index) => `loud ${42 + index}`);
  assertEquals(texts(recovered), ["quiet 1", "quiet 2", ...newest]);
});

Deno.test("an event that was tried in vain keeps its turn to give way", async () => {
  const keeper = new Keeper({ limit: 2 });
  const senders = ([ALICE, "@bob:example.org", "@carol:example.org"] as const).map((userId) =>
    new Sender(keeper, keeper.devices.put(newDevice(keeper, userId)))
  );
  const [alice, bob, carol] = senders as [Sender, Sender, Sender];
  await keeper.sync(alice.say("alice"), bob.say("bob"));
  assertEquals(texts(await keeper.retry([alice])), []);
  await keeper.sync(carol.say("carol"));
  for (const sender of senders) await keeper.key(sender);
  assertEquals(texts(await keeper.retry(senders)), ["bob", "carol"]);
});

Deno.test("events do not wait for ever, but until others are let go of as well", async () => {
  const clock = new TestClock();
  const keeper = new Keeper({ clock, maxAgeMs: 1_000 });
  const letGo = () => keeper.step((tx) => Promise.resolve(keeper.undecryptable.forgetOld(tx)));
  const sender = stranger(keeper);
  await keeper.sync(sender.say("old"));
  await clock.tick(600);
  await keeper.sync(sender.say("new"));
  await clock.tick(600);
  await keeper.reopen();
  assertEquals(await keeper.records(), 2, "the clock may be wrong");
  await letGo();
  await keeper.key(sender);
  assertEquals(texts(await keeper.retry([sender])), ["new"]);
  await clock.tick(600);
  await letGo();
  assertEquals(await keeper.records(), 0);
});

Deno.test("a step that came to nothing has kept, recovered and settled nothing", async () => {
  const keeper = new Keeper();
  const sender = stranger(keeper);
  const [one, two] = [sender.say("one"), sender.say("two")];
  await keeper.sync(one);
  const why = failure(await keeper.one(two));
  await keeper.key(sender);
  await assertRejects(() =>
    keeper.step(async (tx) => {
      assert(keeper.undecryptable.add(tx, two, why));
      const recovered = await keeper.undecryptable.retry(tx, "all");
      assertEquals(texts(recovered), ["one", "two"]);
      keeper.undecryptable.settle(tx, recovered.map(({ ref }) => ref));
      throw new TypeError("no");
    })
  );
  assertEquals(keeper.undecryptable.size, 1);
  assertEquals(texts(await keeper.retry("all")), ["one"]);
});

Deno.test("names from the wire that mean something to JavaScript mean nothing here", async () => {
  const keeper = new Keeper();
  const sender = new Sender(keeper, keeper.devices.put(newDevice(keeper, ALICE)));
  const events = ["__proto__", "constructor"].map((session_id) => {
    const event = sender.say(session_id);
    return { ...event, content: { ...event.content, session_id } };
  });
  assertEquals(await keeper.sync(...events), ["kept", "kept"]);
  await keeper.reopen();
  assertEquals(keeper.undecryptable.size, 2);
});

Deno.test("an event that is longer than any that servers pass on is not kept", async () => {
  const keeper = new Keeper();
  const sender = stranger(keeper);
  const empty = sender.say("long", { unsigned: { "org.example.long": "" } });
  const length = 262_144 - JSON.stringify(empty).length;
  const padded = (add: number) => ({
    ...empty,
    unsigned: { "org.example.long": "x".repeat(length + add) } as object,
  });
  assertEquals(await keeper.sync(padded(1), padded(0)), ["not kept", "kept"]);
  assertEquals(await keeper.records(), 1);
});

Deno.test("old events are let go of in steps of as many records as a step may change", async () => {
  const clock = new TestClock();
  const keeper = new Keeper({ clock, maxAgeMs: 1_000 });
  const sender = stranger(keeper);
  await keeper.sync(...["1", "2", "3", "4", "5"].map((body) => sender.say(body)));
  const letGo = () => keeper.step((tx) => Promise.resolve(keeper.undecryptable.forgetOld(tx, 2)));
  const left: unknown[] = [];
  await clock.tick(1_000);
  assertEquals([await letGo(), await keeper.records()], ["done", 5], "they are not older than they may be");
  await clock.tick(1);
  for (let time = 0; time < 3; time++) left.push(await letGo(), await keeper.records());
  assertEquals(left, ["more", 3, "more", 1, "done", 0]);
});
