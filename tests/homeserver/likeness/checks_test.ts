import { assertEquals } from "@std/assert";
import { type Json, stage } from "../harness.ts";

Deno.test("a header without a bearer token is no token, and is refused where none is needed", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const init = { headers: { authorization: "Basic x" } };
  const answer = await alice.send("GET", `/profile/${alice.id}`, undefined, init);
  assertEquals([answer.status, answer.body.errcode], [401, "M_MISSING_TOKEN"]);
});

Deno.test("a login names a user in one of the ways there are, and so does a proof of the password", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const proof = { type: "m.login.password", password: "password of alice" };
  const login = (identifier?: Json) => alice.refusal("POST", "/login", { ...proof, identifier });
  assertEquals(await login(), [400, "M_INVALID_PARAM"]);
  assertEquals(await login({ user: "alice" }), [400, "M_MISSING_PARAM"]);
  assertEquals(await login({ type: "m.id.user" }), [400, "M_UNKNOWN"]);
  assertEquals(await alice.refusal("POST", "/login", { type: [1] }), [400, "M_INVALID_PARAM"]);
  const change = (auth: Json, more: Json = {}) =>
    alice.refusal("POST", "/account/password", { new_password: "new", auth, ...more });
  assertEquals(await change(proof), [400, "M_INVALID_PARAM"]);
  assertEquals(await change({ type: 7 }), [400, "M_BAD_JSON"]);
  assertEquals(await change(proof, { logout_devices: 1 }), [400, "M_BAD_JSON"]);
  const { body } = await alice.send("DELETE", `/devices/${alice.deviceId}`, { auth: { x: 1 } });
  assertEquals(body.completed, []);
});

Deno.test("whose filter or presence it is comes before what is in it", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  assertEquals(await alice.refusal("POST", "/user/x/filter", {}), [400, "M_INVALID_PARAM"]);
  assertEquals(await alice.refusal("PUT", `/presence/${bob.id}/status`), [403, "M_FORBIDDEN"]);
  const filter = { room: { state: { lazy_load_members: 1 } } };
  assertEquals(await alice.refusal("POST", `/user/${alice.id}/filter`, filter), [400, "M_UNKNOWN"]);
  assertEquals(await alice.refusal("GET", "/sync?filter="), [400, "M_INVALID_PARAM"]);
});

Deno.test("profiles: only the own one is changed, and an empty one is not found", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const put = (user: string, field: string) =>
    alice.refusal("PUT", `/profile/${user}/${field}`, { [field]: "x" });
  assertEquals(await put(bob.id, "displayname"), [400, "M_FORBIDDEN"]);
  assertEquals(await put(bob.id, "org.example"), [403, "M_FORBIDDEN"]);
  assertEquals(await put("@x:away.example", "displayname"), [400, "M_UNKNOWN"]);
  await alice.ok("DELETE", `/profile/${alice.id}/displayname`);
  assertEquals(await alice.refusal("GET", `/profile/${alice.id}`), [404, "M_NOT_FOUND"]);
  assertEquals(await alice.ok("GET", `/profile/${alice.id}/displayname`), {});
  assertEquals(await alice.refusal("GET", `/profile/${alice.id}/org.example`), [404, "M_NOT_FOUND"]);
});

Deno.test("typing: any value counts, and nobody types for others", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  const type = (user: string, body: Json) => alice.refusal("PUT", `/rooms/${room}/typing/${user}`, body);
  assertEquals(await type(alice.id, { typing: "yes" }), [200, undefined]);
  assertEquals(scene.homeserver.room(room).typing, [alice.id]);
  assertEquals(await type(alice.id, { typing: [] }), [200, undefined]);
  assertEquals(scene.homeserver.room(room).typing, []);
  assertEquals(await type(bob.id, { typing: true }), [400, "M_FORBIDDEN"]);
  assertEquals(await type("x", { typing: true }), [400, "M_INVALID_PARAM"]);
  assertEquals(await type("@x:away.example", { typing: true }), [400, "M_UNKNOWN"]);
});

Deno.test("media: who may upload comes before how much, and what is not there yet is waited for", async () => {
  await using scene = stage(["alice", "bob"], { maxUploadSize: 1 });
  const { alice, bob } = scene.users;
  const { content_uri } = await alice.ok("POST", "/_matrix/media/v1/create");
  const path = content_uri.slice("mxc://".length);
  assertEquals(await bob.refusal("PUT", `/_matrix/media/v3/upload/${path}`, "long"), [403, "M_FORBIDDEN"]);
  assertEquals(await alice.refusal("PUT", `/_matrix/media/v3/upload/${path}`, "long"), [413, "M_TOO_LARGE"]);
  assertEquals(await alice.refusal("GET", `/_matrix/media/v3/download/${path}`), [504, "M_NOT_YET_UPLOADED"]);
  const strange = "/_matrix/client/v1/media/download/a%20b/c";
  assertEquals(await alice.refusal("GET", strange), [400, "M_UNKNOWN"]);
});

Deno.test("bodies: most requests need one, and query parameters are ASCII", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const missing = [400, "M_NOT_JSON"];
  assertEquals(await alice.refusal("POST", "/createRoom"), missing);
  assertEquals(await alice.refusal("POST", "/keys/upload"), missing);
  assertEquals(await alice.refusal("POST", "/publicRooms"), missing);
  assertEquals(await alice.refusal("POST", `/user/${alice.id}/openid/request_token`), missing);
  assertEquals(await alice.refusal("POST", `/rooms/${room}/invite`), [400, "M_MISSING_PARAM"]);
  assertEquals(await alice.refusal("PUT", "/pushrules/global/room/!x:y/enabled", 7), [400, "M_UNKNOWN"]);
  assertEquals(await alice.refusal("GET", "/register/available?username=%C3%84"), [400, "M_UNKNOWN"]);
  assertEquals(await alice.refusal("POST", "/keys/claim?timeout=x", {}), [400, "M_INVALID_PARAM"]);
  const upgrade = { new_version: null };
  assertEquals(await alice.refusal("POST", "/rooms/!x:y/upgrade", upgrade), [
    400,
    "M_UNSUPPORTED_ROOM_VERSION",
  ]);
});

Deno.test("to-device messages of a request that is refused go to nobody", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const messages = { [bob.id]: { "*": { x: 1 } }, [alice.id]: "x" };
  assertEquals(await alice.refusal("PUT", "/sendToDevice/x/1", { messages }), [400, "M_BAD_JSON"]);
  assertEquals((await bob.sync()).to_device, undefined);
});
