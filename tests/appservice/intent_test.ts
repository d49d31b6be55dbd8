import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ForbiddenError, ValueError } from "@greenroom/matrix";
import { EncryptionError, ExclusiveError } from "@greenroom/matrix/errors";
import { appserviceScene, message } from "./scene.ts";
import { ENCRYPTED } from "../client/support/encrypted_room.ts";

Deno.test("An intent registers its user with the first request, once, however many there are", async () => {
  await using scene = await appserviceScene();
  const { serving, stage } = scene;
  const parrot = serving?.intent("_echo_parrot");
  await Promise.all([1, 2, 3].map(() => parrot?.whoami()));
  assertEquals((await parrot?.whoami())?.user_id, "@_echo_parrot:localhost");
  assertEquals(stage.homeserver.requests.filter("POST", "/register").length, 1);
  assertEquals(serving?.intent("@_echo_parrot:localhost"), parrot);
});

Deno.test("An intent whose user is registered already goes on", async () => {
  await using scene = await appserviceScene();
  for (let time = 0; time < 2; time++) {
    assertEquals(await scene.instance().intent("_echo_parrot").getJoinedRooms(), []);
  }
  assertEquals(scene.stage.homeserver.requests.filter("POST", "/register").length, 2);
});

Deno.test("An intent joins a public room before it sends, once", async () => {
  await using scene = await appserviceScene();
  const { roomId, serving, stage } = scene;
  const parrot = serving?.intent("_echo_parrot");
  await parrot?.sendText(roomId, "a");
  await parrot?.setTyping(roomId);
  assertEquals(scene.answers(), ["a"]);
  assertEquals(stage.homeserver.requests.filter("POST", "/join").length, 1);
});

Deno.test("An intent joins a private room by invitation of the own user, and says why if it can't", async () => {
  await using scene = await appserviceScene();
  const { alice, serving } = scene;
  const roomId = await alice.createRoom({ preset: "private_chat", invitees: ["@echo:localhost"] });
  await assertRejects(
    async () => await serving?.intent("_echo_parrot").sendText(roomId, "a"),
    ForbiddenError,
  );
  await serving?.botClient.joinRoom(roomId);
  await serving?.intent("_echo_parrot").sendText(roomId, "b");
  assertEquals(scene.stage.homeserver.room(roomId).messages.map(({ content }) => content.body), ["b"]);
});

Deno.test("An intent that was kicked joins again when it sends", async () => {
  await using scene = await appserviceScene();
  const { alice, roomId, serving, stage } = scene;
  await serving?.intent("_echo_parrot").sendText(roomId, "a");
  const left = Promise.withResolvers<void>();
  serving?.on("KICK", () => left.resolve());
  await alice.kickUser(roomId, "@_echo_parrot:localhost");
  await left.promise;
  await serving?.intent("_echo_parrot").sendText(roomId, "b");
  assertEquals(scene.answers(), ["a", "b"]);
  await stage.settle();
});

Deno.test("An intent that was kicked while another instance took the transactions joins again when it sends", async () => {
  await using scene = await appserviceScene();
  const { alice, roomId, serving, stage } = scene;
  await serving?.botClient.joinRoom(roomId);
  await alice.sendText(roomId, "a");
  await stage.until(() => scene.answers().length === 1);
  await stage.settle();
  const other = scene.serving = scene.instance();
  const left = Promise.withResolvers<void>();
  other.on("KICK", () => left.resolve());
  await alice.kickUser(roomId, "@_echo_parrot:localhost");
  await left.promise;
  await stage.settle();
  scene.serving = serving;
  await alice.sendText(roomId, "b");
  await stage.until(() => scene.answers().length === 2);
  assertEquals(scene.answers(), ["1: a", "2: b"]);
});

Deno.test("An intent can't act as a user outside of the namespaces, or of another server", async () => {
  await using scene = await appserviceScene();
  for (const user of ["alice", "@alice:localhost", "@_echo_parrot:elsewhere", "_ech", "@"]) {
    assertThrows(() => scene.serving?.intent(user), ValueError);
  }
  // Nor does the homeserver let it.
  await assertRejects(
    async () => await scene.serving?.botClient.whoami({ asUserId: "@alice:localhost" }),
    ExclusiveError, // it can't be registered
  );
});

Deno.test("Nobody else may register a name of the namespaces, or make an alias of them", async () => {
  await using scene = await appserviceScene();
  await assertRejects(
    async () => await scene.alice.register({ username: "_echo_thief", password: "x", authentication: {} }),
    Error,
  );
  await assertRejects(
    async () => await scene.alice.addRoomAlias(scene.roomId, "echo_thief"),
    ExclusiveError,
  );
});

Deno.test("ensureProfile() sets what is different, and asks once what there is", async () => {
  await using scene = await appserviceScene();
  const { serving, stage } = scene;
  const parrot = serving?.intent("_echo_parrot");
  const profile = { displayname: "Parrot", avatarUrl: "mxc://localhost/parrot" } as const;
  await Promise.all([parrot?.ensureProfile(profile), parrot?.ensureProfile(profile)]);
  await parrot?.ensureProfile({ displayname: "Parrot" });
  const puts = () => stage.homeserver.requests.filter("PUT", "/profile/").length;
  assertEquals(puts(), 2);
  assertEquals(stage.homeserver.requests.filter("GET", "/profile/").length, 1);
  await parrot?.ensureProfile({ displayname: "Polly" });
  assertEquals([puts(), await parrot?.getDisplayname("@_echo_parrot:localhost")], [3, "Polly"]);
  // A new process finds it as it is.
  await scene.instance().intent("_echo_parrot").ensureProfile({ ...profile, displayname: "Polly" });
  assertEquals(puts(), 3);
});

Deno.test("ensureProfile() sets the profile of a user who has none yet, however the server says so", async () => {
  for (const errcode of ["M_NOT_FOUND", "M_UNKNOWN"]) {
    await using scene = await appserviceScene();
    using _none = scene.stage.homeserver.faults.add({
      kind: "status",
      status: 404,
      body: { errcode, error: "Profile was not found" },
      match: { method: "GET", path: /profile\/[^/]*$/ },
    });
    const parrot = scene.serving?.intent("_echo_parrot");
    await parrot?.ensureProfile({ displayname: "Parrot" });
    assertEquals(await parrot?.getDisplayname("@_echo_parrot:localhost"), "Parrot");
  }
});

Deno.test("Two users who say the same in one handler both say it, and once when the handler runs again", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const { roomId, stage } = scene;
  let isBroken = true;
  const cut = Promise.withResolvers<void>();
  const run = () => {
    const appservice = scene.instance();
    appservice.on("m.room.message", async ({ content }) => {
      const users = isBroken ? ["_echo_a"] : ["_echo_b", "_echo_a"];
      for (const user of users) await appservice.intent(user).sendText(roomId, `you said ${content.body}`);
      if (isBroken) await cut.promise; // it is at work when the process ends
    });
    return appservice;
  };
  const said = () =>
    stage.homeserver.room(roomId).messages.filter(({ content }) => content.body === "you said hi")
      .map(({ sender }) => sender);
  scene.serving = run();
  const answer = scene.send("t1", [message(roomId, "hi")]);
  await stage.until(() => said().length === 1);
  await stage.clock.tick(20_000);
  await answer;
  const closing = scene.serving.close();
  cut.reject(new Error("the process ends"));
  await closing;
  isBroken = false;
  scene.serving = run();
  assert(await scene.serving.handlePending());
  assertEquals(said(), ["@_echo_a:localhost", "@_echo_b:localhost"]);
});

Deno.test("The own user may act as another by asUserId, who is registered then", async () => {
  await using scene = await appserviceScene();
  await scene.serving?.botClient.sendText(scene.roomId, "hi", { asUserId: "@_echo_parrot:localhost" });
  assertEquals(scene.answers(), ["hi"]);
});

Deno.test("ensureProfile() that has failed begins anew", async () => {
  await using scene = await appserviceScene();
  const { serving, stage } = scene;
  const fault = stage.homeserver.faults.add({
    kind: "status",
    status: 403,
    match: { path: "/displayname" },
    times: 1,
  });
  const parrot = serving?.intent("_echo_parrot");
  await assertRejects(async () => await parrot?.ensureProfile({ displayname: "Parrot" }));
  await parrot?.ensureProfile({ displayname: "Parrot" });
  assertEquals([fault.hits, await parrot?.getDisplayname("@_echo_parrot:localhost")], [1, "Parrot"]);
});

Deno.test("Neither an intent nor a puppet sends in clear to a room that is known to be encrypted", async () => {
  await using scene = await appserviceScene();
  const { alice, serving, stage } = scene;
  const roomId = await alice.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
  const parrot = serving?.intent("_echo_parrot");
  await parrot?.joinRoom(roomId);
  await scene.send("t1", [
    message(roomId, "", { type: "m.room.encryption", state_key: "", content: ENCRYPTED[0]?.content }),
  ]);
  await assertRejects(async () => await parrot?.sendText(roomId, "secret"), EncryptionError);
  const { accessToken } = stage.homeserver.createUser("carol");
  const puppet = serving?.puppet("@carol:localhost", accessToken);
  await puppet?.joinRoom(roomId);
  await assertRejects(async () => await puppet?.sendText(roomId, "secret"), EncryptionError);
  assertEquals(stage.homeserver.room(roomId).messages, []);
});

Deno.test("A puppet acts as its own user, by that user's token", async () => {
  await using scene = await appserviceScene();
  const { accessToken, userId } = scene.stage.homeserver.createUser("carol");
  const carol = scene.serving?.puppet(userId, accessToken);
  await carol?.joinRoom(scene.roomId);
  await carol?.sendText(scene.roomId, "from the network");
  assertEquals(scene.stage.homeserver.room(scene.roomId).messages.at(0)?.sender, "@carol:localhost");
});

Deno.test("More users than maxActing act one after the other, and no request is lost", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const appservice = scene.instance({ maxActing: 2 });
  const users = Array.from({ length: 10 }, (_, index) => `_echo_${index}`);
  await Promise.all(users.map((user) => appservice.intent(user).sendText(scene.roomId, user)));
  const said = scene.stage.homeserver.room(scene.roomId).messages.map(({ content }) => String(content.body));
  assertEquals(said.sort(), users);
});
