import { assert, assertEquals } from "@std/assert";
import type { Json } from "../harness.ts";
import { SPELLINGS } from "../../support/sliding.ts";
import { FEATURE, scene } from "./sliding_scene.ts";

const MEMBER = "m.room.member";
const LAZY = [["m.room.name", ""], [MEMBER, "$LAZY"], [MEMBER, "$ME"]];
const MERGED_LAZY = {
  include: [{ type: "m.room.name" }, { type: MEMBER, state_key: "@bob:localhost" }],
  lazy_members: true,
};

/** What is shown of the state of a room, by type and key. */
async function watched(spelling: "synapse" | "merged") {
  const features = spelling === "synapse" ? SPELLINGS.synapse : SPELLINGS.merged;
  const here = scene({ ...features });
  const [alice, bob, carol] = ["alice", "bob", "carol"].map(here.user) as [Person, Person, Person];
  const room = await alice.createRoom({
    name: "Hall",
    initial_state: [{ type: "com.example.mood", content: {} }],
  });
  for (const each of [bob, carol]) await each.done("POST", `v3/join/${room}`);
  for (let line = 0; line < 5; line++) await alice.say(room, `${line}`);
  let pos: string | undefined;
  const look = async (
    state: Json = spelling === "synapse" ? LAZY : MERGED_LAZY,
  ): Promise<string[] | undefined> => {
    const list = { timeline_limit: 3, required_state: state };
    const answer = spelling === "synapse"
      ? await bob.done("POST", `unstable/${FEATURE}/sync${pos === undefined ? "" : `?pos=${pos}`}`, {
        lists: { l: { ...list, ranges: [[0, 9]] } },
      })
      : await bob.slideMerged(pos, { lists: { l: list } });
    pos = answer.pos;
    const shown = answer.rooms[room];
    return shown &&
      (shown.required_state ?? []).map((event: Json) =>
        event.type === MEMBER ? event.state_key.split(":")[0] : event.type
      ).toSorted();
  };
  const moves = (change: "join" | "leave") => carol.done("POST", `v3/rooms/${room}/${change}`, {});
  return { here, alice, carol, room, look, moves };
}

type Person = ReturnType<ReturnType<typeof scene>["user"]>;

for (const spelling of ["synapse", "merged"] as const) {
  Deno.test(`Of members that are loaded lazily those come who the timeline is about, once, and without a gap all changes: ${spelling}`, async () => {
    const { here, alice, carol, room, look, moves } = await watched(spelling);
    await using _ = here;
    assertEquals(await look(), ["@alice", "@bob", "m.room.name"]);
    await alice.say(room, "again");
    assertEquals(await look(), []);
    await carol.say(room, "me, too");
    assertEquals(await look(), ["@carol"]);
    await moves("leave");
    assertEquals(await look(), ["@carol"]);
    await moves("join");
    for (let line = 0; line < 5; line++) await alice.say(room, `${line}`);
    assertEquals(await look(), []); // behind a gap
    await carol.say(room, "back");
    assertEquals(await look(), ["@carol"]);
  });

  Deno.test(`A connection that asks for more state is shown that, though nothing has happened: ${spelling}`, async () => {
    const { here, look } = await watched(spelling);
    await using _ = here;
    await look();
    assertEquals(await look(), undefined);
    const more = spelling === "synapse"
      ? [...LAZY, ["com.example.mood", "*"]]
      : { ...MERGED_LAZY, include: [...MERGED_LAZY.include, { type: "com.example.mood" }] };
    assertEquals(await look(more), ["com.example.mood"]);
    const all = await look(spelling === "synapse" ? [["*", ""], ...LAZY] : { include: [{}] });
    for (const name of ["@carol", "m.room.create", "m.room.name"]) assert(all?.includes(name), name);
  });
}

Deno.test("By the merged spelling all state but members comes with an empty pattern, and what is excluded does not", async () => {
  const { here, look } = await watched("merged");
  await using _ = here;
  const exclude = [{ type: "m.room.create" }];
  const shown = await look({ include: [{}], exclude, lazy_members: true });
  assert(shown?.includes("com.example.mood"));
  assertEquals(shown?.filter((name) => name.startsWith("@") || name === "m.room.create"), ["@alice"]);
});
