import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { appserviceScene, message, registration } from "./scene.ts";

Deno.test("A message in a room with a ghost reaches the handler, and the ghost answers", async () => {
  await using scene = await appserviceScene();
  const { alice, roomId, serving, stage } = scene;
  await serving?.intent("_echo_parrot").joinRoom(roomId);
  await alice.sendText(roomId, "hello");
  await stage.until(() => scene.answers().length === 1);
  assertEquals(scene.answers(), ["1: hello"]);
  assert(scene.answered.every((status) => status === 200));
});

Deno.test("An application service that is started answers when the transaction is durable, and handles it then", async () => {
  await using scene = await appserviceScene();
  const { alice, roomId, serving, stage } = scene;
  const done = serving?.start();
  await serving?.intent("_echo_parrot").joinRoom(roomId);
  for (const text of ["a", "b", "c"]) await alice.sendText(roomId, text);
  await stage.until(() => scene.answers().length === 3);
  assertEquals(scene.answers(), ["1: a", "2: b", "3: c"]);
  await serving?.stop();
  await done;
});

Deno.test("A repeated transaction is answered 200, and handled once", async () => {
  await using scene = await appserviceScene();
  const { roomId } = scene;
  const events = [message(roomId, "once")];
  for (let time = 0; time < 3; time++) assertEquals((await scene.send("t1", events)).status, 200);
  assertEquals(scene.answers(), ["1: once"]);
  // Another ID, as after a homeserver was restored: what was shown is not shown again.
  assertEquals((await scene.send("t2", events)).status, 200);
  assertEquals(scene.answers(), ["1: once"]);
});

Deno.test("Two repetitions at the same time are handled once", async () => {
  await using scene = await appserviceScene();
  const events = [message(scene.roomId, "once")];
  const responses = await Promise.all([1, 2, 3].map(() => scene.send("t1", events)));
  assertEquals(responses.map(({ status }) => status), [200, 200, 200]);
  assertEquals(scene.answers(), ["1: once"]);
});

Deno.test("What was kept and not handled when the process ended is handled by the next, once", async () => {
  const store = new MemoryStore();
  await using scene = await appserviceScene({ store });
  const { roomId, stage } = scene;
  const first = scene.serving;
  const [begun, cut] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  first?.on("m.room.member", () => {
    begun.resolve();
    return cut.promise; // it is at work when the process ends
  });
  const member = { type: "m.room.member", state_key: "@alice:localhost", content: { membership: "join" } };
  const events = [message(roomId, "kept"), message(roomId, "", member)];
  const answer = scene.send("t1", events);
  await begun.promise;
  await stage.until(() => scene.answers().length === 1);
  await stage.clock.tick(20_000);
  assertEquals((await answer).status, 200);
  const closing = first?.close();
  cut.reject(new Error("the process ends"));
  await closing;
  scene.serving = scene.instance();
  const again: string[] = [];
  scene.serving.on("m.room.member", ({ state_key }) => again.push(state_key));
  assertEquals((await scene.send("t1", events)).status, 200);
  assertEquals(again, ["@alice:localhost"]);
  assert(await scene.serving.handlePending());
  assertEquals(again, ["@alice:localhost"]);
  assertEquals(scene.answers(), ["1: kept"]);
});

Deno.test("Transactions that arrive while nobody handles them are handled in order", async () => {
  await using scene = await appserviceScene();
  const { roomId } = scene;
  const texts = Array.from({ length: 130 }, (_, index) => String(index));
  const store = scene.store;
  // A rival has the device, so that nothing is handled, only kept.
  const rival = scene.instance({ transactionTimeout: 100 });
  await scene.send("t-1", [message(roomId, "first")]);
  assertEquals(scene.answers(), ["1: first"]);
  for (const text of texts) {
    scene.serving = rival;
    await scene.send(`t${text}`, [message(roomId, text)]);
  }
  assert(await rival.handlePending());
  assertEquals(scene.answers(), ["1: first", ...texts.map((text, index) => `${index + 2}: ${text}`)]);
  let kept = 0;
  for await (const _ of store.list(["appservice", "@echo:localhost", "echo", "in"])) kept++;
  assertEquals(kept, 0);
});

Deno.test("Events of own users reach only handlers that want them", async () => {
  await using scene = await appserviceScene();
  const { roomId, serving } = scene;
  const seen: string[] = [];
  serving?.on("m.room.message", ({ sender }) => seen.push(sender), { own: true });
  const others: string[] = [];
  serving?.on("m.room.message", ({ sender }) => others.push(sender));
  await scene.send("t1", [
    message(roomId, "a"),
    message(roomId, "b", { sender: "@_echo_parrot:localhost" }),
    message(roomId, "c", { sender: "@echo:localhost" }),
    message(roomId, "d", { sender: "@_echo_parrot:elsewhere" }),
  ]);
  assertEquals(seen, [
    "@alice:localhost",
    "@_echo_parrot:localhost",
    "@echo:localhost",
    "@_echo_parrot:elsewhere",
  ]);
  assertEquals(others, ["@alice:localhost", "@_echo_parrot:elsewhere"]);
});

Deno.test("An invitation of an own user is an INVITE, and of another a USER_INVITED", async () => {
  await using scene = await appserviceScene();
  const { alice, roomId, serving, stage } = scene;
  const invited: unknown[] = [];
  serving?.on("INVITE", (event) => invited.push(["INVITE", event.state_key]));
  serving?.on("USER_INVITED", (event) => invited.push(["USER_INVITED", event.state_key]));
  await serving?.intent("_echo_parrot").ensureRegistered();
  await serving?.botClient.joinRoom(roomId);
  stage.homeserver.createUser("bob");
  for (const name of ["_echo_parrot", "bob"]) await alice.inviteUser(roomId, `@${name}:localhost`);
  await stage.until(() => invited.length === 2);
  assertEquals(invited, [["INVITE", "@_echo_parrot:localhost"], ["USER_INVITED", "@bob:localhost"]]);
});

Deno.test("Nothing before the join of the own user is history: each event was sent when it happened", async () => {
  await using scene = await appserviceScene();
  const { roomId } = scene;
  const member = (name: string, membership: string) =>
    message(roomId, "", {
      type: "m.room.member",
      state_key: `@${name}:localhost`,
      sender: `@${name}:localhost`,
      content: { membership },
    });
  await scene.send("t1", [
    message(roomId, "before"),
    member("echo", "join"),
    message(roomId, "between"),
    member("echo", "leave"),
    message(roomId, "after"),
  ]);
  assertEquals(scene.answers(), ["1: before", "2: between", "3: after"]);
});

Deno.test("Typing, receipts and presence reach handlers, by the names of the proposals too", async () => {
  await using scene = await appserviceScene();
  const { roomId, serving } = scene;
  const seen: unknown[] = [];
  serving?.on("m.typing", ({ room_id, content }) => seen.push([room_id, content.user_ids]));
  serving?.on("m.presence", ({ sender, content }) => seen.push([sender, content.presence]));
  const typing = { type: "m.typing", room_id: roomId, content: { user_ids: ["@alice:localhost"] } };
  const presence = { type: "m.presence", sender: "@alice:localhost", content: { presence: "online" } };
  await scene.send("t1", [], { rest: { ephemeral: [typing, presence] } });
  await scene.send("t2", [], { rest: { "de.sorunome.msc2409.ephemeral": [typing] } });
  const typed = [roomId, ["@alice:localhost"]];
  assertEquals(seen, [["@alice:localhost", "online"], typed, typed]);
});

Deno.test("What a transaction has of the wrong shape is left out, and the rest is handled", async () => {
  await using scene = await appserviceScene();
  const { roomId } = scene;
  const bad = [null, 1, "event", [], {}, { room_id: 1 }, { room_id: "__proto__" }, {
    room_id: roomId,
    type: 1,
  }];
  const response = await scene.send("t1", [...bad, message(roomId, "good"), message("nowhere", "bad")], {
    rest: { ephemeral: [{}, null, { type: "m.typing" }], to_device: "none", device_lists: 1 },
  });
  assertEquals(response.status, 200);
  assertEquals(scene.answers(), ["1: good"]);
});

Deno.test("A homeserver that could not deliver sends again, and nothing is lost", async () => {
  await using scene = await appserviceScene();
  const { alice, roomId, stage, serving } = scene;
  await serving?.intent("_echo_parrot").joinRoom(roomId);
  scene.serving = undefined;
  await alice.sendText(roomId, "a");
  await stage.settle();
  await alice.sendText(roomId, "b");
  await stage.settle();
  assertEquals(scene.answers(), []);
  scene.serving = serving;
  await stage.clock.tick(2_000);
  await stage.until(() => scene.answers().length === 2);
  assertEquals(scene.answers(), ["1: a", "2: b"]);
});

Deno.test("The state of a room that all own users have left is removed a week later, and comes back with them", async () => {
  await using scene = await appserviceScene();
  const { alice, roomId, stage } = scene;
  const known = async () =>
    (await scene.serving?.botClient.stateStore.getState(roomId, "m.room.name"))?.content.name;
  const ghost = (name: string) => scene.serving?.intent(name);
  for (const name of ["_echo_parrot", "_echo_polly"]) await ghost(name)?.joinRoom(roomId);
  await alice.sendStateEvent(roomId, "m.room.name", { name: "hall" });
  await stage.settle();
  assertEquals(await known(), "hall");
  const week = async (): Promise<void> => {
    await scene.serving?.handlePending();
    await scene.serving?.close(); // so that nothing ticks
    await stage.clock.tick(8 * 86_400_000);
    scene.serving = scene.instance();
    await scene.serving.botClient.prune();
  };
  await ghost("_echo_parrot")?.leaveRoom(roomId);
  await stage.settle();
  await week();
  assertEquals(await known(), "hall"); // one is left
  await ghost("_echo_polly")?.leaveRoom(roomId);
  await stage.settle();
  await week();
  assertEquals(await known(), undefined);
  await ghost("_echo_polly")?.joinRoom(roomId);
  await alice.sendStateEvent(roomId, "m.room.name", { name: "stage" });
  await stage.settle();
  await week();
  assertEquals(await known(), "stage");
  await alice.sendText(roomId, "back?");
  await stage.settle();
  assertEquals(scene.answers(), ["1: back?"]);
});

Deno.test("A store that fails answers 503, so that the transaction comes again", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const store = new MemoryStore();
  scene.serving = scene.instance({
    store: Object.assign(store, { commit: () => Promise.reject(new Error("full")) }),
  });
  const response = await scene.send("t1", [message(scene.roomId, "a")]);
  assertEquals([response.status, response.headers.get("retry-after")], [503, "5"]);
  assert(!JSON.stringify([await response.json(), scene.stage.log]).includes(registration.hs_token));
});
