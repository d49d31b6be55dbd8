import { assertEquals, assertNotEquals } from "@std/assert";
import { device } from "./fakes.ts";
import { ALICE, BOB, memberEvent, stateEvent } from "./room.ts";
import { Stage } from "./stage.ts";

/** What happens between two events. */
interface Case {
  readonly what: string;
  readonly happens: (stage: Stage) => Promise<unknown> | unknown;
  /** What the room is before the first event. */
  readonly before?: (stage: Stage) => Promise<void> | unknown;
}

const HOUR = 3_600_000;

const causes: readonly Case[] = [
  { what: "a member leaves", happens: (stage) => stage.member(BOB, "leave") },
  { what: "a member is banned", happens: (stage) => stage.member(BOB, "ban") },
  {
    what: "a member leaves and comes back at once",
    happens: (stage) => stage.sync([memberEvent(BOB, "leave"), memberEvent(BOB, "join")]),
  },
  {
    what: "a member leaves while the process is down",
    happens: async (stage) => {
      stage.noteMember(BOB, "leave");
      await stage.restart();
    },
  },
  {
    what: "a member leaves, the process ends and the member is back",
    happens: async (stage) => {
      await stage.member(BOB, "leave");
      stage.noteMember(BOB, "join");
      await stage.restart();
    },
  },
  {
    what: "an invitation of a member shows behind a gap",
    happens: (stage) => stage.sync([memberEvent(BOB, "invite")], { limited: true }),
  },
  {
    what: "a member who was not told of in a lossy sync is not in the new list",
    happens: async (stage) => {
      stage.noteMember(BOB, "leave");
      await stage.sync([], { lossy: true });
    },
  },
  {
    what: "an invited user who got the key declines",
    before: (stage) => stage.room.members.set(BOB, "invite"),
    happens: (stage) => stage.member(BOB, "leave"),
  },
  {
    what: "a guest to whom others may have passed the key leaves",
    before: (stage) => stage.room.visibility = "shared",
    happens: (stage) => stage.sync([memberEvent("@passerby:example.org", "leave")]),
  },
  {
    what: "a member's device is gone to which others may have passed the key",
    before: (stage) => {
      stage.room.visibility = "shared";
      stage.devices.put(device(BOB, "BOB2", { trust: "blacklisted" }));
    },
    happens: (stage) => stage.removeDevice(BOB, "BOB2"),
  },
  {
    what: "a member's device is gone to which others may have passed the key, after a restart",
    before: (stage) => {
      stage.room.visibility = "shared";
      stage.devices.put(device(BOB, "BOB2", { trust: "blacklisted" }));
    },
    happens: async (stage) => {
      await stage.restart();
      await stage.removeDevice(BOB, "BOB2");
    },
  },
  { what: "a device is logged out", happens: (stage) => stage.removeDevice(BOB, "BOB1") },
  {
    what: "a device is gone unnoticed",
    happens: (stage) => stage.devices.remove(BOB, "BOB1"),
  },
  {
    what: "a device is blocked",
    happens: (stage) => stage.devices.put(device(BOB, "BOB1", { trust: "blacklisted" })),
  },
  {
    what: "a device is blocked and unblocked",
    happens: async (stage) => {
      const removed = [device(BOB, "BOB1")];
      await stage.step((tx) => stage.outbound.devicesChanged(tx, { removed }));
    },
  },
  {
    what: "the history visibility changes",
    happens: (stage) =>
      stage.sync([stateEvent("m.room.history_visibility", { history_visibility: "joined" })]),
  },
  {
    what: "the history visibility changed while the process was down",
    happens: async (stage) => {
      stage.room.visibility = "joined";
      await stage.restart();
    },
  },
  {
    what: "the choice of devices changes",
    happens: async (stage) => {
      stage.policy = { sendTo: "verified" };
      await stage.restart();
    },
  },
  {
    what: "the choice of devices becomes wider",
    before: (stage) => {
      stage.policy = { sendTo: "cross-signed" };
      stage.devices.put(
        device(ALICE, "ALICE1", { trust: "verified" }),
        device(BOB, "BOB1", { trust: "verified" }),
      );
      return stage.restart();
    },
    happens: async (stage) => {
      stage.policy = { sendTo: "all" };
      await stage.restart();
    },
  },
  { what: "a week has passed", happens: (stage) => stage.clock.tick(7 * 24 * HOUR) },
  {
    what: "the period of the room has passed",
    before: (stage) => stage.room.encryption = { ...stage.room.encryption, rotation_period_ms: 2 * HOUR },
    happens: (stage) => stage.clock.tick(2 * HOUR),
  },
  {
    what: "an hour has passed in a room whose period is shorter",
    before: (stage) => stage.room.encryption = { ...stage.room.encryption, rotation_period_ms: 1 },
    happens: (stage) => stage.clock.tick(HOUR),
  },
  {
    what: "99 more events were encrypted, with a restart in between",
    happens: async (stage) => {
      for (let count = 1; count < 100; count++) {
        if (count === 50) await stage.restart();
        await stage.send();
      }
    },
  },
  {
    what: "the room allows for two events, and the second was encrypted",
    before: (stage) => stage.room.encryption = { ...stage.room.encryption, rotation_period_msgs: 2 },
    happens: (stage) => stage.send(),
  },
  {
    what: "limits become tighter than what was used already",
    happens: async (stage) => {
      await stage.sync([stateEvent("m.room.encryption", { rotation_period_msgs: 1 })]);
    },
  },
  {
    what: "the application asks for it",
    happens: (stage) => stage.step((tx) => stage.outbound.discard(tx, "!room")),
  },
  { what: "the store was set back", happens: (stage) => stage.step((tx) => stage.outbound.rollback(tx)) },
  {
    what: "the own user leaves and comes back",
    happens: (stage) => stage.member("@me:example.org", "leave"),
  },
];

const nonCauses: readonly Case[] = [
  { what: "nothing happens", happens: () => {} },
  { what: "the process restarts", happens: (stage) => stage.restart() },
  { what: "a member takes another name", happens: (stage) => stage.member(BOB, "join") },
  {
    what: "a member takes another name behind a gap",
    happens: (stage) => stage.member(BOB, "join", { limited: true }),
  },
  { what: "a user joins", happens: (stage) => stage.member("@carol:example.org", "join") },
  { what: "a user is invited", happens: (stage) => stage.member("@carol:example.org", "invite") },
  {
    what: "an invited user joins",
    before: (stage) => stage.room.members.set(BOB, "invite"),
    happens: (stage) => stage.member(BOB, "join"),
  },
  { what: "a device is new", happens: (stage) => stage.devices.put(device(BOB, "BOB2")) },
  {
    what: "a device that never got the key is gone",
    before: (stage) => stage.devices.put(device(BOB, "BOB2", { trust: "blacklisted" })),
    happens: (stage) => stage.removeDevice(BOB, "BOB2"),
  },
  {
    what: "a device is gone that is in other rooms only",
    happens: async (stage) => {
      stage.devices.put(device("@carol:example.org", "CAROL1"));
      await stage.removeDevice("@carol:example.org", "CAROL1");
    },
  },
  {
    what: "a device is gone of a user who is in other rooms only, where history is shared",
    before: (stage) => {
      stage.room.visibility = "shared";
      stage.devices.put(device("@carol:example.org", "CAROL1"));
    },
    happens: (stage) => stage.removeDevice("@carol:example.org", "CAROL1"),
  },
  {
    what: "a stranger who may not have the key leaves",
    happens: (stage) => stage.sync([memberEvent("@passerby:example.org", "leave")]),
  },
  {
    what: "a device is gone that had the key of an earlier session only",
    before: async (stage) => {
      await stage.send();
      stage.olm.open.delete(device(BOB, "BOB1").curve25519);
      stage.olm.exhausted.add(device(BOB, "BOB1").curve25519);
      await stage.step((tx) => stage.outbound.discard(tx, "!room"));
    },
    happens: (stage) => stage.removeDevice(BOB, "BOB1"),
  },
  {
    what: "a device takes another name",
    happens: (stage) => stage.devices.put(device(BOB, "BOB1", { displayName: "Phone" })),
  },
  {
    what: "a device is verified",
    happens: (stage) => stage.devices.put(device(BOB, "BOB1", { trust: "verified" })),
  },
  { what: "a sync is lossy, but no member left", happens: (stage) => stage.sync([], { lossy: true }) },
  { what: "a week less a millisecond has passed", happens: (stage) => stage.clock.tick(7 * 24 * HOUR - 1) },
  { what: "99 events were encrypted", happens: (stage) => sendMany(stage, 98) },
  {
    what: "the same history visibility is said again",
    happens: (stage) =>
      stage.sync([stateEvent("m.room.history_visibility", { history_visibility: "invited" })]),
  },
  {
    what: "encryption is said to be of another kind, or none, with wider limits",
    happens: async (stage) => {
      await stage.sync([stateEvent("m.room.encryption", { algorithm: "m.other" })]);
      await stage.sync([stateEvent("m.room.encryption", {})]);
    },
  },
  { what: "a device loses its Olm sessions", happens: (stage) => stage.olm.wedge(device(ALICE, "ALICE1")) },
];

async function sendMany(stage: Stage, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) await stage.send();
}

async function play({ before, happens }: Case): Promise<[string, string]> {
  const stage = await Stage.open();
  stage.room.visibility = "invited"; // so that keys may not be shared
  await before?.(stage);
  const first = await stage.send();
  await happens(stage);
  const second = await stage.send();
  return [String(first.session_id), String(second.session_id)];
}

for (const each of causes) {
  Deno.test(`a new group session begins when ${each.what}`, async () => {
    const [first, second] = await play(each);
    assertNotEquals(first, second);
  });
}

for (const each of nonCauses) {
  Deno.test(`the group session stays when ${each.what}`, async () => {
    const [first, second] = await play(each);
    assertEquals(first, second);
  });
}

Deno.test("a session of the future ends when the clock was set back by more than an hour", async () => {
  const stage = await Stage.open();
  await stage.clock.tick(24 * HOUR);
  const first = await stage.session();
  const now = stage.clock.now();
  stage.clock.now = () => now - HOUR + 1;
  assertEquals(await stage.session(), first);
  stage.clock.now = () => now - HOUR;
  assertNotEquals(await stage.session(), first);
});

Deno.test("an event is refused, and not encrypted with the old session, from the moment that a user left", async () => {
  const stage = await Stage.open();
  await stage.send();
  await stage.member(BOB, "leave");
  assertEquals(await stage.tryToSend(), undefined);
});

Deno.test("the new session goes to the users who stayed, and not to the one who left", async () => {
  const stage = await Stage.open();
  const [alice, bob] = [device(ALICE, "ALICE1"), device(BOB, "BOB1")];
  const before = await stage.send();
  await stage.member(BOB, "leave");
  const after = await stage.send();
  assertEquals([stage.canRead(alice, before), stage.canRead(alice, after)], [true, true]);
  assertEquals([stage.canRead(bob, before), stage.canRead(bob, after)], [true, false]);
});
