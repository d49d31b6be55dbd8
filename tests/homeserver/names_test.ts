import { assertEquals } from "@std/assert";
import { type Json, stage } from "./harness.ts";

/** Names that every object has, which a homeserver must not take for stored ones. */
const NAMES = ["constructor", "toString", "hasOwnProperty", "__proto__"];

Deno.test("Names that every object has are event types, state keys and members like others", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  for (const name of NAMES) {
    const content = JSON.parse(`{"${name}":{"a":1}}`);
    await alice.ok("PUT", `/rooms/${room}/state/${name}/${name}`, content);
    assertEquals(await alice.ok("GET", `/rooms/${room}/state/${name}/${name}`), content);
    const { event_id } = await alice.ok("PUT", `/rooms/${room}/send/${name}/${name}`, content);
    const sent = await alice.ok("GET", `/rooms/${room}/event/${event_id}`);
    assertEquals([sent.type, sent.content], [name, content]);
    await alice.ok("POST", "/createRoom", { initial_state: [{ type: name, state_key: "", content }] });
    const levels = await alice.ok("GET", `/rooms/${room}/state/m.room.power_levels/`);
    await alice.ok("PUT", `/rooms/${room}/state/m.room.power_levels/`, { ...levels, ...content });
    await alice.ok("PUT", `/user/${alice.id}/account_data/${name}`, content);
    assertEquals(await alice.ok("GET", `/user/${alice.id}/account_data/${name}`), content);
  }
});

Deno.test("Key algorithms with names that every object has are counted like others", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const one_time_keys = Object.fromEntries(NAMES.map((name) => [`${name}:A`, "key"]));
  const { one_time_key_counts } = await alice.ok("POST", "/keys/upload", { one_time_keys });
  const expected = [["signed_curve25519", 0], ...NAMES.map((name) => [name, 1])];
  assertEquals(Object.entries(one_time_key_counts), expected as [string, Json][]);
});
