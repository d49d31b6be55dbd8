import { assert, assertEquals, assertRejects } from "@std/assert";
import { EncryptionError, UnsupportedAlgorithmError } from "@greenroom/matrix/errors";
import type { JsonObject, StateEvent } from "@greenroom/matrix/types";
import type { RoomChanges } from "../../../src/crypto/sharing/encrypted_rooms.ts";
import { ALICE, BOB, ME, memberEvent, ROOM, stateEvent } from "./room.ts";
import { Stage } from "./stage.ts";

const MEGOLM = "m.megolm.v1.aes-sha2";

function receive(
  stage: Stage,
  events: StateEvent[],
  flags: Partial<{ limited: boolean; lossy: boolean }> = {},
) {
  return stage.step((tx): RoomChanges => {
    return stage.rooms.receiveState(tx, { roomId: ROOM, events, limited: false, lossy: false, ...flags });
  });
}

const settings = (stage: Stage) => stage.rooms.settings(ROOM);
const encryption = (content: JsonObject) => stateEvent("m.room.encryption", content);
const recipients = (stage: Stage) =>
  stage.rooms.recipients(ROOM) && [...stage.rooms.recipients(ROOM) ?? []].sort();

Deno.test("a room that never was encrypted is not known, and costs nothing", async () => {
  const stage = await Stage.open();
  assertEquals(await receive(stage, [memberEvent(BOB, "leave")]), {
    roomId: ROOM,
    left: [],
    settingsChanged: false,
    track: [],
    joined: [],
  });
  assertEquals([settings(stage), stage.rooms.isEncrypted(ROOM)], [undefined, false]);
  assertEquals(await stage.vault.list(["crypto", "room_settings"]), []);
});

Deno.test("a room stays encrypted, after a restart too, whatever state comes later", async () => {
  const stage = await Stage.open();
  await receive(stage, [encryption({ algorithm: MEGOLM })]);
  for (const content of [{}, { algorithm: "m.none" }, { algorithm: null }, { redacted: true }]) {
    await receive(stage, [encryption(content)]);
    await stage.restart();
    assertEquals([stage.rooms.isEncrypted(ROOM), settings(stage)?.algorithm], [true, MEGOLM]);
  }
});

Deno.test("encryption under another state key says nothing", async () => {
  const stage = await Stage.open();
  await receive(stage, [stateEvent("m.room.encryption", { algorithm: MEGOLM }, "x")]);
  assert(!stage.rooms.isEncrypted(ROOM));
});

for (
  const [what, said, expected] of [
    ["nothing", [{}], [604_800_000, 100]],
    ["what it may", [{ rotation_period_ms: 86_400_000, rotation_period_msgs: 5_000 }], [86_400_000, 5_000]],
    ["too little", [{ rotation_period_ms: 0, rotation_period_msgs: 0 }], [3_600_000, 1]],
    ["too many messages", [{ rotation_period_msgs: 1e9 }], [604_800_000, 10_000]],
    ["nonsense", [{ rotation_period_ms: "1", rotation_period_msgs: 1.5 }], [604_800_000, 100]],
    ["negative numbers", [{ rotation_period_ms: -1, rotation_period_msgs: -1 }], [604_800_000, 100]],
    ["no numbers", [{ rotation_period_ms: NaN, rotation_period_msgs: Infinity }], [604_800_000, 100]],
    ["less later", [{}, { rotation_period_ms: 7_200_000, rotation_period_msgs: 7 }], [7_200_000, 7]],
    ["more later", [{ rotation_period_msgs: 7 }, { rotation_period_ms: 1e12, rotation_period_msgs: 50 }], [
      604_800_000,
      7,
    ]],
    ["nothing later", [{ rotation_period_ms: 7_200_000, rotation_period_msgs: 7 }, {}], [7_200_000, 7]],
  ] as const
) {
  Deno.test(`rotation limits stay tight if a room says ${what}`, async () => {
    const stage = await Stage.open();
    for (const content of said) await receive(stage, [encryption({ algorithm: MEGOLM, ...content })]);
    const { rotationPeriodMs, rotationPeriodMsgs } = settings(stage) ?? {};
    assertEquals([rotationPeriodMs, rotationPeriodMsgs], [...expected]);
  });
}

Deno.test("nothing is sent to a room with an algorithm that is not known, or none", async () => {
  for (const content of [{ algorithm: "m.other" }, {}, { algorithm: 7 }]) {
    const stage = await Stage.open();
    stage.room.encryption = content;
    await stage.describe();
    const error = await assertRejects(() => stage.prepare(), UnsupportedAlgorithmError);
    assertEquals(error.code, "UNSUPPORTED_ALGORITHM");
  }
});

Deno.test("a room is refused that nothing says is encrypted; one that was seen encrypted stays so", async () => {
  const stage = await Stage.open();
  stage.room.encryption = undefined;
  await assertRejects(() => stage.describe(), EncryptionError, "the room is not encrypted");
  await receive(stage, [encryption({ algorithm: MEGOLM, rotation_period_msgs: 50 })]);
  await stage.describe();
  assertEquals([settings(stage)?.algorithm, settings(stage)?.rotationPeriodMsgs], [MEGOLM, 50]);
});

Deno.test("a room that named no algorithm at first may name one later, but not another", async () => {
  const stage = await Stage.open();
  await receive(stage, [encryption({})]);
  await receive(stage, [encryption({ algorithm: MEGOLM })]);
  await receive(stage, [encryption({ algorithm: "m.other" })]);
  assertEquals(settings(stage)?.algorithm, MEGOLM);
});

Deno.test("a failed step leaves a room as it was", async () => {
  const stage = await Stage.open();
  stage.failing = "before";
  await assertRejects(() => receive(stage, [encryption({ algorithm: MEGOLM })]), TypeError);
  assert(!stage.rooms.isEncrypted(ROOM));
});

Deno.test("a failed step leaves the settings of a room as they were, however often it has changed them", async () => {
  const stage = await Stage.open();
  const said = (count: number) => encryption({ algorithm: MEGOLM, rotation_period_msgs: count });
  await receive(stage, [said(50)]);
  const before = settings(stage);
  stage.failing = "before";
  const changes = (count: number) => ({ roomId: ROOM, events: [said(count)], limited: false, lossy: false });
  await assertRejects(() =>
    stage.step((tx) => {
      stage.rooms.receiveState(tx, changes(40));
      stage.rooms.receiveState(tx, changes(30));
      assertEquals(settings(stage)?.rotationPeriodMsgs, 30);
    }), TypeError);
  assertEquals(settings(stage), before);
});

Deno.test("encryption and members of one response count together, in whatever order", async () => {
  const stage = await Stage.open();
  const changes = await receive(stage, [
    memberEvent(ALICE, "join"),
    stateEvent("m.room.history_visibility", { history_visibility: "invited" }),
    encryption({ algorithm: MEGOLM }),
    memberEvent(BOB, "invite"),
  ]);
  assertEquals(changes, { roomId: ROOM, left: [], settingsChanged: false, track: [ALICE, BOB], joined: [] });
  assertEquals(settings(stage)?.historyVisibility, "invited");
});

Deno.test("members are unknown until they were received, once per process", async () => {
  const stage = await Stage.open();
  await receive(stage, [encryption({ algorithm: MEGOLM }), memberEvent(ALICE, "join")]);
  assertEquals(recipients(stage), undefined);
  await stage.describe();
  assertEquals(recipients(stage), [ALICE, BOB, ME]);
  await stage.restart();
  assertEquals(recipients(stage), undefined);
});

Deno.test("members come and go with sync responses", async () => {
  const stage = await Stage.open();
  await stage.describe();
  const carol = "@carol:example.org";
  await receive(stage, [memberEvent(BOB, "leave"), memberEvent(carol, "invite")]);
  assertEquals(recipients(stage), [ALICE, carol, ME].sort());
  await receive(stage, [memberEvent(carol, "ban"), memberEvent(ALICE, "join"), memberEvent(BOB, "join")]);
  assertEquals(recipients(stage), [ALICE, BOB, ME]);
  await receive(stage, [memberEvent(BOB, "no such membership")]);
  assertEquals(recipients(stage), [ALICE, ME]);
});

Deno.test("a membership event with an invalid user changes nothing", async () => {
  const stage = await Stage.open();
  await stage.describe();
  const broken = ["", "alice", "@alice", "@:", "!x:y"].map((userId) => memberEvent(userId, "join"));
  const changes = await receive(stage, broken);
  assertEquals([changes.track, recipients(stage)], [[], [ALICE, BOB, ME]]);
});

Deno.test("only membership events change the members, and one without a membership counts as a leave", async () => {
  const stage = await Stage.open();
  await stage.describe();
  const other = { ...memberEvent(BOB, "leave"), type: "org.example.member" };
  assertEquals(await receive(stage, [other]), {
    roomId: ROOM,
    left: [],
    settingsChanged: false,
    track: [],
    joined: [],
  });
  assertEquals(recipients(stage), [ALICE, BOB, ME]);
  const empty = { ...memberEvent(BOB, "join"), content: null as unknown as JsonObject };
  assertEquals((await receive(stage, [empty])).left, [BOB]);
  assertEquals(recipients(stage), [ALICE, ME]);
});

Deno.test("an invalid user ID is no member", async () => {
  const stage = await Stage.open();
  await stage.describe([[ALICE, "join"], ["@:", "join"]]);
  assertEquals(recipients(stage)?.filter((userId) => userId !== ME), [ALICE]);
});

Deno.test("the settings of a room change with its algorithm or its history visibility", async () => {
  const stage = await Stage.open();
  const changed = async (event: StateEvent) => (await receive(stage, [event])).settingsChanged;
  const visibility = stateEvent("m.room.history_visibility", { history_visibility: "joined" });
  const events = [encryption({}), encryption({ algorithm: MEGOLM }), visibility, visibility];
  assertEquals(await Array.fromAsync(events, changed), [false, true, true, false]);
});

Deno.test("the version changes when members come or go, and not with a name", async () => {
  const stage = await Stage.open();
  await stage.describe();
  const version = stage.rooms.members.version(ROOM);
  await receive(stage, [memberEvent(BOB, "join")]);
  assertEquals(stage.rooms.members.version(ROOM), version);
  const seen = new Set([version]);
  for (const membership of ["leave", "join", "leave", "invite", "join"]) {
    await receive(stage, [memberEvent(BOB, membership)]);
    seen.add(stage.rooms.members.version(ROOM));
  }
  await receive(stage, [stateEvent("m.room.history_visibility", { history_visibility: "joined" })]);
  seen.add(stage.rooms.members.version(ROOM));
  await stage.describe();
  seen.add(stage.rooms.members.version(ROOM));
  assertEquals(seen.size, 8);
});

Deno.test("members are unknown after a lossy response, or after the own user left", async () => {
  for (const [events, flags] of [[[], { lossy: true }], [[memberEvent(ME, "leave")], {}]] as const) {
    const stage = await Stage.open();
    await stage.describe();
    await receive(stage, [...events], flags);
    assertEquals(recipients(stage), undefined);
    await stage.describe();
    assertEquals(recipients(stage), [ALICE, BOB, ME]);
  }
});

Deno.test("members that were asked for while the own user was none are unknown when it has joined again", async () => {
  const again = memberEvent(ME, "join");
  const profile = { ...again, unsigned: { prev_content: { membership: "join" } } } as StateEvent;
  for (const [event, expected] of [[again, undefined], [profile, `${[ALICE, BOB, ME]}`]] as const) {
    const stage = await Stage.open();
    await receive(stage, [memberEvent(ME, "leave")]);
    await stage.describe(); // those of the time when it left
    await receive(stage, [event]);
    assertEquals(recipients(stage)?.join(), expected);
  }
});

Deno.test("behind a gap, every member event but a join counts as a leave", async () => {
  const stage = await Stage.open();
  await stage.describe();
  const events = [memberEvent(ALICE, "join"), memberEvent(BOB, "invite"), memberEvent("@c:x", "knock")];
  assertEquals((await receive(stage, events)).left, ["@c:x"]);
  assertEquals((await receive(stage, events, { limited: true })).left, [BOB, "@c:x"]);
});

Deno.test("changes between the request for members and its answer override the answer", async () => {
  const stage = await Stage.open();
  const carol = "@carol:example.org";
  await receive(stage, [encryption({ algorithm: MEGOLM })]);
  stage.rooms.expectDescription(ROOM);
  await receive(stage, [
    memberEvent(BOB, "leave"),
    memberEvent(carol, "join"),
    stateEvent("m.room.history_visibility", { history_visibility: "joined" }),
  ]);
  await stage.describe([[ME, "join"], [ALICE, "invite"], [BOB, "join"]]);
  assertEquals(recipients(stage), [carol, ME].sort());
  assertEquals(settings(stage)?.historyVisibility, "joined");
});

Deno.test("an answer is of no use if changes were lost meanwhile", async () => {
  const stage = await Stage.open();
  assertEquals(await stage.prepare(), { needs: "room" });
  await receive(stage, [encryption({ algorithm: MEGOLM })], { lossy: true });
  await stage.describe();
  assertEquals(await stage.prepare(), { needs: "room" });
  await stage.describe();
  assertEquals(recipients(stage), [ALICE, BOB, ME]);
});
