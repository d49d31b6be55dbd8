import { assertEquals } from "@std/assert";
import { type Json, stage } from "./harness.ts";

const alias = (name: string) => `/directory/room/${encodeURIComponent(`#${name}:localhost`)}`;

Deno.test("aliases: are made by members, lead to the room, and go with the power to remove them", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  await bob.ok("PUT", alias("bobs"), { room_id: room });
  await alice.ok("PUT", alias("place"), { room_id: room });
  assertEquals(await alice.ok("GET", alias("place")), { room_id: room, servers: ["localhost"] });
  assertEquals(await alice.refusal("PUT", alias("place"), { room_id: room }), [409, "M_UNKNOWN"]);
  assertEquals(await alice.refusal("PUT", alias("none"), { room_id: null }), [400, "M_BAD_JSON"]);
  assertEquals(await alice.refusal("PUT", alias("none"), {}), [400, "M_MISSING_PARAM"]);
  assertEquals(await carol.refusal("PUT", alias("mine"), { room_id: room }), [403, "M_FORBIDDEN"]);
  assertEquals((await alice.ok("GET", `/rooms/${room}/aliases`)).aliases.sort(), [
    "#bobs:localhost",
    "#place:localhost",
  ]);
  assertEquals(await bob.refusal("DELETE", alias("place")), [403, "M_FORBIDDEN"]);
  await alice.putState(room, "m.room.canonical_alias", {
    alias: "#place:localhost",
    alt_aliases: ["#bobs:localhost"],
  });
  await alice.ok("DELETE", alias("place"));
  assertEquals(scene.homeserver.room(room).state("m.room.canonical_alias"), {
    alt_aliases: ["#bobs:localhost"],
  });
  await bob.ok("DELETE", alias("bobs"));
  assertEquals(await alice.refusal("GET", alias("bobs")), [404, "M_NOT_FOUND"]);
  assertEquals(await alice.refusal("GET", "/directory/room/junk"), [400, "M_INVALID_PARAM"]);
});

Deno.test("aliases: a canonical one must lead to the room", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const put = (content: Json) =>
    alice.refusal("PUT", `/rooms/${room}/state/m.room.canonical_alias/`, content);
  assertEquals(await put({ alias: "#none:localhost" }), [400, "M_BAD_ALIAS"]);
  assertEquals(await put({ alias: "none" }), [400, "M_INVALID_PARAM"]);
});

Deno.test("room directory: lists published rooms by size, in pages both ways, and by words", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  for (const name of ["one", "two", "three"]) await alice.createRoom({ visibility: "public", name });
  const big = await alice.createRoom({
    visibility: "public",
    name: "big",
    topic: "Plays",
    creation_content: { type: "m.space" },
  });
  await alice.createRoom({ preset: "public_chat", name: "hidden" });
  await bob.join(big);
  const names = ({ chunk }: Json) => chunk.map(({ name }: Json) => name);
  const first = await alice.ok("GET", "/publicRooms?limit=2");
  assertEquals([names(first), first.total_room_count_estimate, first.prev_batch], [
    ["big", "one"],
    4,
    undefined,
  ]);
  const second = await alice.ok("GET", `/publicRooms?limit=2&since=${first.next_batch}`);
  assertEquals([names(second), second.next_batch], [["two", "three"], undefined]);
  assertEquals(names(await alice.ok("GET", `/publicRooms?limit=2&since=${second.prev_batch}`)), [
    "big",
    "one",
  ]);
  const search = async (filter: Json) => names(await alice.ok("POST", "/publicRooms", { filter }));
  assertEquals(await search({ generic_search_term: "PLAY" }), ["big"]);
  assertEquals(await search({ room_types: [null] }), ["one", "two", "three"]);
  assertEquals(await search({ room_types: ["m.space"] }), ["big"]);
  assertEquals(await alice.refusal("GET", "/publicRooms?server=elsewhere"), [502, "M_UNKNOWN"]);
});

Deno.test("room directory: publishing takes the power to name the room", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  const path = `/directory/list/room/${room}`;
  assertEquals(await bob.refusal("PUT", path, { visibility: "public" }), [403, "M_FORBIDDEN"]);
  assertEquals(await bob.refusal("PUT", path, { visibility: null }), [400, "M_BAD_JSON"]);
  await alice.ok("PUT", path, { visibility: "public" });
  assertEquals(await bob.ok("GET", path), { visibility: "public" });
  assertEquals(await alice.refusal("PUT", path, { visibility: "secret" }), [400, "M_BAD_JSON"]);
});

Deno.test("user directory: finds by ID and name, everyone or only those one could know", async () => {
  for (const searchAllUsers of [true, false]) {
    await using scene = stage(["alice", "bob", "bobby"], { searchAllUsers });
    const { alice, bob } = scene.users;
    const room = await alice.createRoom({ preset: "public_chat" });
    await bob.join(room);
    await bob.ok("PUT", "/profile/@bob:localhost/displayname", { displayname: "Robert Bobson" });
    const search = async (search_term: string, limit = 10) => {
      const { results, limited } = await alice.ok("POST", "/user_directory/search", { search_term, limit });
      return [results.map(({ user_id }: Json) => user_id), limited];
    };
    const everyone = ["@bob:localhost", "@bobby:localhost"];
    assertEquals(await search("BOB"), [searchAllUsers ? everyone : ["@bob:localhost"], false]);
    assertEquals(await search("robert"), [["@bob:localhost"], false]);
    if (searchAllUsers) assertEquals(await search("bob", 1), [["@bob:localhost"], true]);
    // As on Synapse: who is in a public room is found by everybody.
    assertEquals(await search("alice"), [searchAllUsers ? [] : ["@alice:localhost"], false]);
  }
});

Deno.test("reports: take events that one can see, rooms and users", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  const event = await alice.say(room, "rude");
  await alice.ok("POST", `/rooms/${room}/report/${event}`, { reason: "rude", score: -100 });
  assertEquals(await bob.refusal("POST", `/rooms/${room}/report/${event}`, {}), [404, "M_NOT_FOUND"]);
  assertEquals(await alice.refusal("POST", `/rooms/${room}/report/${event}`, { reason: 7 }), [
    400,
    "M_BAD_JSON",
  ]);
  await alice.ok("POST", `/rooms/${room}/report`, { reason: "x" });
  await alice.ok("POST", "/users/@bob:localhost/report", { reason: "x" });
});

Deno.test("third parties: OpenID tokens, TURN server, protocols and capabilities", async () => {
  await using scene = stage(["alice"], { turnServer: { uris: ["turn:localhost"], ttl: 60 } });
  const { alice } = scene.users;
  const token = await alice.ok("POST", "/user/@alice:localhost/openid/request_token", {});
  assertEquals([token.token_type, token.matrix_server_name, token.expires_in], ["Bearer", "localhost", 3600]);
  assertEquals(await alice.refusal("POST", "/user/@bob:localhost/openid/request_token", {}), [
    403,
    "M_FORBIDDEN",
  ]);
  assertEquals(await alice.ok("GET", "/voip/turnServer"), { uris: ["turn:localhost"], ttl: 60 });
  assertEquals(await alice.ok("GET", "/thirdparty/protocols"), {});
  const { capabilities } = await alice.ok("GET", "/capabilities");
  assertEquals([capabilities["m.room_versions"].default, capabilities["m.profile_fields"]], ["12", {
    enabled: true,
  }]);
});
