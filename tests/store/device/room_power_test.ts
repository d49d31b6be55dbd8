import { assert, assertEquals, assertFalse } from "@std/assert";
import type { JsonObject, PowerAction } from "@greenroom/matrix/types";
import { requiredLevel } from "../../../src/store/device/keys.ts";
import { hasPower, powerLevelOf, type RoomPower } from "../../../src/store/device/mod.ts";

const CREATOR = "@creator:a";
const OTHER = "@other:a";

function room(version: string | undefined, create: JsonObject = {}, powerLevels?: JsonObject): RoomPower {
  const content = version === undefined ? create : { room_version: version, ...create };
  return { create: { sender: CREATOR, content }, powerLevels };
}

Deno.test("powerLevelOf() gives users their own level, and everybody else the default", () => {
  const power = room("11", {}, { users: { [OTHER]: 50 }, users_default: 7 });
  assertEquals(powerLevelOf(OTHER, power), 50);
  assertEquals(powerLevelOf(CREATOR, power), 7);
  assertEquals(powerLevelOf("@third:a", room("11", {}, {})), 0);
});

Deno.test("powerLevelOf() gives the creator 100, and others nothing, where there are no power levels", () => {
  for (const version of [undefined, "1", "10", "11"]) {
    assertEquals(powerLevelOf(CREATOR, room(version)), 100);
    assertEquals(powerLevelOf(OTHER, room(version)), 0);
  }
});

Deno.test("powerLevelOf() takes the creator from the content up to version 10, and from the sender later", () => {
  const named = { creator: OTHER };
  for (const version of [undefined, "1", "6", "10"]) {
    assertEquals(powerLevelOf(OTHER, room(version, named)), 100, version);
    assertEquals(powerLevelOf(CREATOR, room(version, named)), 0, version);
  }
  // Nothing checks the member from version 11 on: it has no effect.
  assertEquals(powerLevelOf(OTHER, room("11", named)), 0);
  assertEquals(powerLevelOf(CREATOR, room("11", named)), 100);
});

Deno.test("powerLevelOf() puts creators above all levels from version 12 on, the additional ones too", () => {
  const create = { additional_creators: [OTHER, 7] };
  const levels = { users: { "@third:a": 9_007_199_254_740_991 } };
  for (const version of ["12", "13", "org.matrix.hydra.11"]) {
    const power = room(version, create, levels);
    assertEquals(powerLevelOf(CREATOR, power), Infinity, version);
    assertEquals(powerLevelOf(OTHER, power), Infinity, version);
    assertEquals(powerLevelOf("@third:a", power), 9_007_199_254_740_991);
    assert(hasPower(CREATOR, { event: "m.room.tombstone", state: true }, power));
  }
  assertEquals(powerLevelOf(OTHER, room("11", create, levels)), 0);
  assertEquals(powerLevelOf(OTHER, room("12", { additional_creators: OTHER }, levels)), 0);
  for (const version of ["org.example.custom", "0x20", "1e5", " 12", "Infinity"]) {
    assertEquals(powerLevelOf(OTHER, room(version, create, levels)), 0, version);
  }
});

Deno.test("requiredLevel() has every default, which is the same where there are no power levels", () => {
  const withLevels = room("11", {}, {});
  const without = room("11");
  const defaults: [PowerAction, number][] = [
    ["ban", 50],
    ["kick", 50],
    ["redact", 50],
    ["invite", 0],
    [{ event: "m.room.message" }, 0],
    [{ event: "m.room.name", state: true }, 50],
    [{ notify: "room" }, 50],
  ];
  for (const [action, level] of defaults) {
    assertEquals(requiredLevel(action, withLevels), level);
    assertEquals(requiredLevel(action, without), level);
  }
  assert(hasPower(CREATOR, { event: "m.room.name", state: true }, without));
  assertFalse(hasPower(OTHER, { event: "m.room.name", state: true }, without));
});

Deno.test("requiredLevel() takes what the room says", () => {
  const power = room("11", {}, {
    ban: 1,
    kick: 2,
    redact: 3,
    invite: 4,
    events_default: 5,
    state_default: 6,
    events: { "m.reaction": 7, "m.room.name": 8 },
    notifications: { room: 9 },
  });
  const actions: PowerAction[] = [
    ...["ban", "kick", "redact", "invite"] as const,
    { event: "m.room.message" },
    { event: "m.room.topic", state: true },
    { event: "m.reaction" },
    { event: "m.room.name", state: true },
    { notify: "room" },
  ];
  assertEquals(actions.map((action) => requiredLevel(action, power)), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

Deno.test("Levels may be strings, as old rooms have them; what is no level counts as absent", () => {
  const old = room("1", {}, { users: { [OTHER]: " 50 " }, ban: "60", kick: "-1" });
  assertEquals(powerLevelOf(OTHER, old), 50);
  assertFalse(hasPower(OTHER, "ban", old));
  assert(hasPower(OTHER, "kick", old));
  for (const bad of [null, true, {}, [], "", "lots", 1e300, NaN]) {
    const power = room("11", {}, { users: { [OTHER]: bad }, users_default: 3, ban: bad });
    assertEquals(powerLevelOf(OTHER, power), 3);
    assertEquals(requiredLevel("ban", power), 50);
  }
});

Deno.test("A name that every object has is neither a user nor an event", () => {
  const power = room("11", {}, { users: {}, events: {}, notifications: {} });
  assertEquals(powerLevelOf("constructor" as "@a:b", power), 0);
  assertEquals(requiredLevel({ event: "constructor", state: true }, power), 50);
  assertEquals(requiredLevel({ notify: "toString" }, power), 50);
  for (const bad of [null, 7, "x", []]) {
    const broken = room("11", {}, { users: bad, events: bad, notifications: bad });
    assertEquals(powerLevelOf(OTHER, broken), 0);
    assertEquals(requiredLevel({ event: "m.room.name", state: true }, broken), 50);
  }
});
