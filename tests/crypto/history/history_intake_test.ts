import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { Refusal, ROOM } from "../engine/homeserver.ts";
import { RawSession } from "../engine/raw_device.ts";
import { ALICE, bundleWith, fileAt, historyScene, MALLORY } from "./stage.ts";

const FILE = "mxc://example.org/bundle";

Deno.test("A file is fetched when it was announced and the invitation of its sender accepted, in whatever order", async () => {
  for (const order of ["announced", "accepted"]) {
    const scene = await historyScene();
    const { bot, alice, announcement, accepts, asked, files, read } = scene;
    const session = new RawSession();
    files.set(FILE, bundleWith(session, alice));
    const announce = () => bot.sync({ toDevice: [announcement(alice)] });
    if (order === "announced") await announce();
    else await accepts(ALICE);
    assertEquals(asked, [], order);
    if (order === "announced") await accepts(ALICE);
    else await announce();
    assertEquals([asked, await read(session)], [[FILE], "hello"], order);
    await bot.sync();
    assertEquals(asked.length, 1, "it is fetched once");
  }
});

for (const type of ["m.room_key_bundle", "io.element.msc4268.room_key_bundle"]) {
  Deno.test(`A file that is announced as ${type} is read`, async () => {
    const { bot, alice, accepts, files, read } = await historyScene();
    const session = new RawSession();
    files.set(FILE, bundleWith(session, alice));
    await bot.sync({ toDevice: [alice.message(bot, type, { room_id: ROOM, file: fileAt(FILE) })] });
    await accepts(ALICE);
    assertEquals(await read(session), "hello");
  });
}

Deno.test("A sender of whom nothing is known is looked up before anything is fetched", async () => {
  const scene = await historyScene();
  const { bot, alice, announcement, accepts, asked, files, server } = scene;
  files.set(FILE, bundleWith(new RawSession(), alice));
  const kinds: string[] = [];
  const answer = server.answer.bind(server);
  server.answer = (from, request) => {
    kinds.push(request.kind);
    return answer(from, request);
  };
  const device = announcement(alice);
  await bot.sync({ toDevice: [device] });
  assertEquals([kinds.includes("keysQuery"), kinds.includes("historyBundle")], [false, false]);
  kinds.length = 0;
  await accepts(ALICE);
  assertEquals([kinds, asked], [["keysQuery", "historyBundle"], [FILE]]);
});

Deno.test("A sender who shares once more, and is not followed any more, is looked up once more", async () => {
  const { bot, alice, announcement, accepts, asked, files } = await historyScene();
  files.set(FILE, bundleWith(new RawSession(), alice));
  for (const count of [1, 2]) {
    await bot.sync({ toDevice: [announcement(alice)] });
    await accepts(ALICE);
    assertEquals(asked.length, count);
    await bot.sync({ deviceLists: { changed: [], left: [ALICE] } });
  }
});

Deno.test("A sender who leaves, so that nobody follows them, while they are looked up is looked up again", async () => {
  for (const when of ["before they are asked about", "while they are asked about"]) {
    const { bot, alice, announcement, accepted, files, read } = await historyScene();
    const session = new RawSession();
    files.set(FILE, bundleWith(session, alice));
    await bot.sync({ toDevice: [announcement(alice)] });
    await bot.engine.receiveSync({ ...bot.collect(), state: accepted(ALICE) });
    const requests = when.startsWith("while") ? await bot.engine.requests() : [];
    await bot.engine.receiveSync({ ...bot.collect(), deviceLists: { changed: [], left: [ALICE] } });
    for (const request of requests) await bot.carry(request);
    await bot.flush();
    assertEquals(await read(session), "hello", when);
  }
});

Deno.test("The outcome of another request is not that of a file", async () => {
  const { bot, alice, announcement, accepted, files, read } = await historyScene();
  const session = new RawSession();
  files.set(FILE, bundleWith(session, alice));
  await bot.sync({ toDevice: [announcement(alice)] });
  await bot.engine.receiveSync({ ...bot.collect(), state: accepted(ALICE) });
  for (;;) {
    const [request] = await bot.engine.requests();
    assert(request !== undefined);
    if (request.kind === "historyBundle") {
      await bot.engine.answer({ id: "another", response: {} });
      await bot.engine.fail({ id: "another", failure: { status: 404, errcode: "M_NOT_FOUND", message: "" } });
      await bot.carry(request);
      break;
    }
    await bot.carry(request);
  }
  assertEquals(await read(session), "hello");
});

Deno.test("An invitation that was accepted a day ago is forgotten with the next", async () => {
  const { bot, accepts, server } = await historyScene();
  await accepts(ALICE);
  await server.clock.tick(86_400_000);
  await accepts(MALLORY);
  const left = await Array.fromAsync(bot.store.list(["crypto", "history_accepted"]));
  assertEquals(left.map(({ key }) => key[2]), [MALLORY]);
});

Deno.test("A file that the server refuses for now is asked for again, and one that it will never give is not", async () => {
  for (
    const [status, isAskedAgain] of [[401, true], [429, true], [500, true], [0, true], [403, false], [
      410,
      false,
    ], [400, false]]
  ) {
    const { bot, alice, announcement, accepts, asked, server } = await historyScene();
    server.onBundle = (url) => {
      asked.push(url);
      throw new Refusal(Number(status), "M_UNKNOWN");
    };
    await bot.sync({ toDevice: [announcement(alice)] });
    await accepts(ALICE);
    await bot.sync();
    assertEquals(asked.length, 1, "there is a wait");
    await server.clock.tick(60_000);
    await bot.sync();
    assertEquals(asked.length, isAskedAgain === true ? 2 : 1, String(status));
  }
});

Deno.test("Without the option nothing is noted", async () => {
  const { bot, alice, announcement, accepts, asked } = await historyScene({ shareHistory: false });
  await bot.sync({ toDevice: [announcement(alice)] });
  await accepts(ALICE);
  const kinds = ["history_announced", "history_accepted"];
  const left = await Promise.all(kinds.map((kind) => Array.fromAsync(bot.store.list(["crypto", kind]))));
  assertEquals([asked, left], [[], [[], []]]);
});

Deno.test("Many keys are taken in steps", async () => {
  const scene = await historyScene();
  const { bot, alice, announcement, accepts, files, read } = scene;
  const sessions = Array.from({ length: 450 }, () => new RawSession());
  files.set(FILE, { room_keys: sessions.flatMap((each) => bundleWith(each, alice).room_keys) });
  await bot.sync({ toDevice: [announcement(alice)] });
  await accepts(ALICE);
  for (const at of [0, 199, 200, 449]) assertEquals(await read(sessions[at] as RawSession), "hello");
});

Deno.test("What a bundle says is withheld explains why an event can't be read, until a key comes", async () => {
  const scene = await historyScene();
  const { bot, alice, announcement, accepts, files, read } = scene;
  const [shared, secret, foreign, odd] = Array.from({ length: 4 }, () => new RawSession());
  assert(shared && secret && foreign && odd);
  const entry = (session: RawSession, change: JsonObject = {}) => ({
    algorithm: "m.megolm.v1.aes-sha2",
    room_id: ROOM,
    session_id: session.id,
    sender_key: "x",
    code: "m.history_not_shared",
    ...change,
  });
  const withheld = [
    null,
    entry(secret),
    entry(foreign, { room_id: "!other:example.org" }),
    entry(odd, { code: "spaces are no code" }),
    ...Array.from({ length: 250 }, (_, number) => entry(secret, { session_id: `session${number}` })),
  ];
  files.set(FILE, { ...bundleWith(shared, alice), withheld });
  await bot.sync({ toDevice: [announcement(alice)] });
  await accepts(ALICE);
  const codes = async () => [await read(shared), await read(secret), await read(foreign), await read(odd)];
  assertEquals(await codes(), ["hello", "WITHHELD", "MISSING_KEY", "MISSING_KEY"]);
  await bot.restart();
  assertEquals(await read(secret), "WITHHELD");
  await bot.sync({ toDevice: [alice.message(bot, "m.room_key", secret.roomKey(ROOM))] });
  assertEquals(await read(secret), "hello");
  const left = await Array.fromAsync(bot.store.list(["crypto", "withheld"]));
  assertEquals(left.length, 250);
});
