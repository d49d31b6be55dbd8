/**
 * Key bundles of those who have not invited this user,
 * of devices that nobody vouches for, and of other rooms.
 */

import { assertEquals } from "@std/assert";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";
import { withShortKeys } from "../../support/vault.ts";
import { ALICE, bundleWith, fileAt, historyScene, MALLORY, ME } from "../../history/stage.ts";

const FILE = "mxc://example.org/bundle";

/** What is left of shared history that was announced or accepted. */
async function left({ bot }: Awaited<ReturnType<typeof historyScene>>, kind: string): Promise<number> {
  return (await Array.fromAsync(bot.store.list(["crypto", kind]))).length;
}

Deno.test("T39: only what the inviter has sent is fetched, and only after the invitation was accepted", async () => {
  const scene = await historyScene();
  const { bot, alice, mallory, announcement, accepts, asked, files } = scene;
  files.set(FILE, bundleWith(new RawSession(), alice));
  await bot.sync({ toDevice: [announcement(mallory)] });
  await accepts(ALICE);
  assertEquals(asked, [], "another has invited");
  await bot.sync({ toDevice: [announcement(mallory)] });
  assertEquals(asked, []);
});

Deno.test("T39: what is no invitation that was accepted within a day has nothing fetched", async () => {
  const day = 86_400_000;
  const scene = await historyScene();
  const { bot, alice, announcement, accepts, asked, server } = scene;
  await bot.sync({ toDevice: [announcement(alice)] });
  const unsigned = (membership: string) => ({ prev_content: { membership }, prev_sender: ALICE });
  await accepts(ALICE, { unsigned: unsigned("leave") } as never);
  await accepts(ALICE, { unsigned: unsigned("join") } as never);
  await accepts(ALICE, { unsigned: undefined });
  await accepts(ALICE, { content: { membership: "invite" } });
  await accepts(ALICE, { state_key: MALLORY });
  await accepts(ALICE, { origin_server_ts: server.clock.now() - day });
  for (const inviter of [ME, undefined, 17, "alice", {}, "__proto__"]) await accepts(inviter);
  assertEquals([asked, await left(scene, "history_accepted")], [[], 0]);
  await accepts(ALICE, { origin_server_ts: server.clock.now() + 10 * day });
  assertEquals(asked, [FILE], "a clock that is ahead is taken for now");
});

Deno.test("T39: a device that the inviter's identity does not vouch for shares nothing, whatever it says it is", async () => {
  const cases = ["unsigned", "not shown", "other keys", "a former identity"] as const;
  for (const which of cases) {
    const scene = await historyScene();
    const { bot, device, announcement, accepts, asked, files, server } = scene;
    const session = new RawSession();
    const sender = which === "unsigned"
      ? device(ALICE, "TABLET", "unsigned")
      : which === "a former identity"
      ? device(ALICE, "TABLET")
      : new RawDevice(server, ALICE, which === "not shown" ? "TABLET" : "PHONE");
    files.set(FILE, bundleWith(session, sender));
    if (which === "a former identity") {
      server.member(ALICE, "join");
      await bot.sync(); // the first one is seen
      const { master, selfSigning, userSigning } = scene.identities.get(ALICE) ?? {};
      for (const keys of [{}, { master, selfSigning, userSigning }]) {
        Object.assign(scene.identities.get(ALICE)?.crossSign() ?? {}, keys);
        server.show({ userId: ALICE, deviceId: "TABLET" });
        await bot.sync();
      }
    }
    await bot.sync({ toDevice: [announcement(sender)] });
    await accepts(ALICE);
    assertEquals([asked, await scene.read(session)], [[], "MISSING_KEY"], which);
    if (which !== "other keys") assertEquals(await left(scene, "history_announced"), 0, which);
  }
});

Deno.test("T39: a device shares nothing if the inviter's identity vouches for its Curve25519 key alone, or for a dehydrated one", async () => {
  for (const which of ["other signing key", "dehydrated"] as const) {
    const { bot, announcement, accepts, asked, files, server } = await historyScene();
    const claims = which === "dehydrated" ? { dehydrated: true } as const : {};
    const sender = new RawDevice(server, ALICE, "TABLET", claims);
    files.set(FILE, bundleWith(new RawSession(), sender));
    await bot.sync({ toDevice: [announcement(sender)] });
    const { curve25519 } = sender.own;
    (which === "dehydrated" ? sender : new RawDevice(server, ALICE, "TABLET", { curve25519 })).publish();
    await accepts(ALICE);
    const [tablet] = (await bot.engine.devicesOf([ALICE])).filter(({ deviceId }) => deviceId === "TABLET");
    assertEquals([tablet?.trust, tablet?.curve25519, asked], ["cross-signed", curve25519, []], which);
  }
});

Deno.test("T39: an invitation to one room has nothing fetched that its sender shares of another", async () => {
  const { bot, alice, announcement, accepts, asked, files } = await historyScene();
  const other = "!other:example.org";
  files.set(FILE, bundleWith(new RawSession(), alice, other));
  await bot.sync({ toDevice: [announcement(alice, FILE, { room_id: other })] });
  await accepts(ALICE);
  assertEquals(asked, []);
});

Deno.test("T39: a device that its user does not vouch for any more shares nothing, though the server tells of no change", async () => {
  const { bot, alice, announcement, accepts, asked, files, identities } = await historyScene();
  files.set(FILE, bundleWith(new RawSession(), alice));
  await bot.sync({ toDevice: [announcement(alice)] });
  await accepts(ALICE);
  assertEquals(asked.length, 1);
  identities.get(ALICE)?.unsigned.add("PHONE");
  await bot.sync({ toDevice: [announcement(alice)] });
  await accepts(ALICE);
  assertEquals(asked.length, 1, "its sender is looked up each time");
});

Deno.test("T39: a message that came in clear, without the sender's keys, or without a proper file, counts for nothing", async () => {
  const scene = await historyScene();
  const { bot, alice, announcement, accepts, asked } = scene;
  const good = announcement(alice);
  const toDevice = [
    { ...good, type: "m.room_key_bundle", content: { room_id: ROOM, file: fileAt(FILE) } },
    alice.message(bot, "m.room_key_bundle", { room_id: ROOM, file: fileAt(FILE) }, {
      sender_device_keys: undefined,
    }),
    announcement(alice, "https://example.org/bundle"),
    announcement(alice, "mxc://example.org/../../bundle"),
    announcement(alice, FILE, { room_id: 17 }),
    announcement(alice, FILE, { file: {} }),
    announcement(alice, FILE, { file: { ...fileAt(FILE), hashes: {} } }),
    announcement(alice, FILE, { file: { ...fileAt(FILE), v: "v1" } }),
    announcement(alice, FILE, { file: "x".repeat(60_000) }),
  ];
  assertEquals((await bot.sync({ toDevice })).toDevice, []);
  await accepts(ALICE);
  assertEquals([asked, await left(scene, "history_announced")], [[], 0]);
});

Deno.test("T39: of where a file is no more is kept than it takes to read it", async () => {
  const { bot, alice, announcement } = await historyScene();
  const junk = "x".repeat(60_000);
  const file = fileAt(FILE);
  const key = { ...Object(file.key), key_ops: ["encrypt", "decrypt", junk] };
  for (
    const more of [{ junk }, { key: { ...Object(file.key), junk } }, { key }, {
      hashes: { ...Object(file.hashes), junk },
    }]
  ) {
    await bot.sync({ toDevice: [announcement(alice, FILE, { file: { ...file, ...more } })] });
    const [record] = await Array.fromAsync(bot.store.list(["crypto", "history_announced"]));
    assertEquals(Object(record?.value).file, file);
  }
  for (const url of [`${FILE}/${junk}`, `${FILE}${junk}`, `mxc://${junk}/bundle`]) {
    await bot.sync({ toDevice: [announcement(alice, url)] });
  }
  const [record] = await Array.fromAsync(bot.store.list(["crypto", "history_announced"]));
  assertEquals(Object(record?.value).file, file);
});

Deno.test("T39: of a bundle only keys of the room are taken that are those of their sessions", async () => {
  const scene = await historyScene();
  const { bot, alice, announcement, accepts, files, read } = scene;
  const [good, elsewhere, mislabelled] = [new RawSession(), new RawSession(), new RawSession()];
  const key = good.exported(ROOM, alice.own);
  files.set(FILE, {
    room_keys: [
      null,
      17,
      [],
      {},
      { ...key, algorithm: "org.example.other" },
      { ...key, session_key: "A".repeat(300) },
      { ...key, session_key: 17 },
      { ...key, sender_key: null },
      { ...key, session_id: { a: 1 } },
      elsewhere.exported("!other:example.org", alice.own),
      { ...mislabelled.exported(ROOM, alice.own), session_id: elsewhere.id },
      key,
    ],
    withheld: "nothing",
  });
  await bot.sync({ toDevice: [announcement(alice)] });
  await accepts(ALICE);
  assertEquals(await read(good), "hello");
  const records = await Array.fromAsync(bot.store.list(["crypto", "inbound"]));
  assertEquals(records.map(({ key }) => key.at(-1)), [good.id]);
  for (const rubbish of [{}, { room_keys: 17 }, { room_keys: { a: 1 } }]) {
    const other = await historyScene();
    other.files.set(FILE, rubbish);
    await other.bot.sync({ toDevice: [other.announcement(other.alice)] });
    await other.accepts(ALICE);
    assertEquals([other.asked, await left(other, "history_announced")], [[FILE], 0]);
  }
});

Deno.test("T39: a session with a name that no store takes costs nobody the others", async () => {
  const { bot, alice, announcement, accepts, files, read } = await historyScene();
  withShortKeys(bot.store);
  const good = new RawSession();
  const key = good.exported(ROOM, alice.own);
  const endless = { ...key, session_id: "x".repeat(10_000) };
  files.set(FILE, { room_keys: [endless, key, endless], withheld: [] });
  await bot.sync({ toDevice: [announcement(alice)] });
  await accepts(ALICE);
  assertEquals(await read(good), "hello");
});

Deno.test("T39: a key that is shared does not take a known session from its maker", async () => {
  const scene = await historyScene();
  const { bot, alice, mallory, announcement, accepts, files, read } = scene;
  const session = new RawSession();
  await bot.sync({ toDevice: [alice.message(bot, "m.room_key", session.roomKey(ROOM))] });
  files.set(FILE, bundleWith(session, mallory));
  await bot.sync({ toDevice: [announcement(mallory)] });
  await accepts(MALLORY);
  assertEquals([scene.asked, await read(session)], [[FILE], "hello"]);
});

Deno.test("T39: a user who announces history by the thousand keeps out nobody else's, and fills no store", async () => {
  const scene = await historyScene();
  const { bot, alice, mallory, announcement, accepts, asked, files } = scene;
  files.set(FILE, bundleWith(new RawSession(), alice));
  await bot.sync({ toDevice: [announcement(alice)] });
  const flood = (at: number) => announcement(mallory, FILE, { room_id: `!room${at}:example.org` });
  await bot.sync({ toDevice: Array.from({ length: 600 }, (_, at) => flood(at)) });
  assertEquals(await left(scene, "history_announced"), 200);
  await accepts(ALICE);
  assertEquals(asked, [FILE]);
});
