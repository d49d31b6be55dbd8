import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { type Client, encryptionOf, MemoryStore } from "@greenroom/matrix";
import { type MessageEvent, PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import { history } from "../identity/scene.ts";
import { withholding } from "../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { accepts, GUEST, keyOf, newSharer, roomOf, says, sharer, sharing, withHistory } from "./scene.ts";
import { hiding } from "../../crypto/threats/hiding.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const HOST = "@host:localhost";
const DAY = 86_400_000;

/** Who invites, and who is invited. */
async function hostAndGuest(here: ClientStage) {
  return { host: await sharer(here, "host"), guest: await sharer(here, "guest") };
}

/** What came of sharing the history of a room with the guest. */
async function outcome(host: Client, roomId: RoomID): Promise<unknown> {
  const { outcome, keys } = await host.crypto?.shareHistory(roomId, GUEST) ?? {};
  return [outcome, keys];
}

Deno.test("Who is invited reads what was sent before, and is told who says whose it is", async () => {
  await using here = clientStage();
  const { host, guest } = await hostAndGuest(here);
  const roomId = await roomOf(host, ["one", "two"]);
  await host.inviteUser(roomId, GUEST);
  await accepts(guest, roomId);
  assertEquals(await history(guest, roomId), ["one by bundle", "two by bundle"]);
  const { chunk } = await guest.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
  const event = chunk.find(({ type }) => type === "m.room.encrypted") as MessageEvent;
  const decryption = await guest.crypto?.decrypt(event);
  assert(decryption !== undefined && "event" in decryption);
  const { keySource, sharedBy, senderTrust } = encryptionOf(decryption.event) ?? {};
  assertEquals([keySource, sharedBy, senderTrust], ["bundle", HOST, "unknown-device"]);
});

Deno.test("What waits for its key is delivered when the history has come", async () => {
  await using here = clientStage();
  const { host, guest } = await hostAndGuest(here);
  const roomId = await roomOf(host, ["one"]);
  await host.inviteUser(roomId, GUEST);
  const texts: string[] = [];
  guest.on("m.room.message", ({ content }) => texts.push(content.body), { history: true });
  await accepts(guest, roomId);
  await here.until(() => texts.includes("one"));
});

Deno.test("The history comes too if it is announced after the invitation was accepted, and from more than one room", async () => {
  await using here = clientStage();
  const host = await sharer(here, "host");
  const { fetch, held, release } = withholding(here);
  const guest = await sharer(here, "guest", { fetch });
  const rooms = [await roomOf(host, ["one"]), await roomOf(host, ["two"])] as const;
  for (const roomId of rooms) {
    await host.inviteUser(roomId, GUEST);
    await accepts(guest, roomId);
    assertEquals(await history(guest, roomId), ["MISSING_KEY"]);
  }
  assert(held.length >= 2);
  release();
  await guest.syncOnce();
  await guest.crypto?.idle();
  assertEquals([await history(guest, rooms[0]), await history(guest, rooms[1])], [["one by bundle"], [
    "two by bundle",
  ]]);
});

Deno.test("Without the option nothing is shared, and nothing that is shared is taken", async () => {
  for (const missing of ["host", "guest"]) {
    await using here = clientStage();
    const without = (name: string) => ({
      encryption: { ...sharing(name), ...(name === missing && { shareHistory: false }) },
    });
    const host = await sharer(here, "host", without("host"));
    const guest = await sharer(here, "guest", without("guest"));
    const roomId = await roomOf(host, ["one"]);
    await host.inviteUser(roomId, GUEST);
    await accepts(guest, roomId);
    assertEquals(await history(guest, roomId), ["MISSING_KEY"]);
    const { requests } = here.homeserver;
    assertEquals(
      requests.filter("POST", "/upload").filter(({ path }) => path.includes("media")).length,
      {
        host: 0,
        guest: 1,
      }[missing],
    );
    assertEquals(requests.filter("GET", "/media/download").length, 0);
  }
});

Deno.test("Keys of what was sent while others were not to read it are not shared", async () => {
  await using here = clientStage();
  const { host, guest } = await hostAndGuest(here);
  const roomId = await roomOf(host, ["among us"], "joined");
  assertEquals(await outcome(host, roomId), ["not-readable", 0]);
  await host.sendStateEvent(roomId, "m.room.history_visibility", { history_visibility: "shared" });
  await host.syncOnce();
  assertEquals(await outcome(host, roomId), ["nothing", 0]);
  await says(host, roomId, ["for all"]);
  assertEquals(await outcome(host, roomId), ["shared", 1]);
  await host.inviteUser(roomId, GUEST);
  await accepts(guest, roomId);
  assertEquals(await history(guest, roomId), ["for all by bundle"]);
});

Deno.test("History is shared though the server hides that the room is encrypted, and the record that says so is gone", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const first = await sharer(here, "host", { store });
  await sharer(here, "guest");
  const roomId = await roomOf(first, ["one"]);
  await first.close();
  const keys = (await Array.fromAsync(store.list([]))).map(({ key }) => key);
  const saying = keys.filter((key) =>
    key.includes(roomId) && (key.includes("room") || key.includes("room_settings"))
  );
  assertEquals(saying.length, 2);
  await store.commit(saying.map((key) => ({ type: "delete", key })));
  const host = await sharer(here, "host", { store, fetch: hiding(here) });
  assertEquals(await outcome(host, roomId), ["shared", 1]);
});

Deno.test("A visibility that is none makes a room one whose history is not to be read", async () => {
  await using here = clientStage();
  const { host } = await hostAndGuest(here);
  const roomId = await roomOf(host, ["for all"]);
  for (const content of [{ history_visibility: 1 }, {}]) {
    await host.sendStateEvent(roomId, "m.room.history_visibility", content as never);
    await host.syncOnce();
    assertEquals(await outcome(host, roomId), ["not-readable", 0]);
  }
});

Deno.test("Nothing is shared of a room that is not encrypted, by who is not verified, or with who has no identity", async () => {
  await using here = clientStage();
  const host = await sharer(here, "host");
  assertEquals(await outcome(host, await host.createRoom()), ["nothing", 0]);
  const roomId = await roomOf(host, ["one"]);
  const guest = here.client("guest", { encryption: EVERYBODY });
  await guest.crypto?.start();
  assertEquals(await outcome(host, roomId), ["no-devices", 0]);
  await guest.crypto?.ensureVerified({ recoveryKey: keyOf("guest") });
  await guest.crypto?.idle();
  assertEquals(await outcome(host, roomId), ["shared", 1]);

  const other = here.client("other", { encryption: { shareHistory: true } });
  await other.crypto?.start();
  const mine = await other.createRoom({ initialState: withHistory("shared") });
  await other.syncOnce();
  await says(other, mine, ["one"]);
  assertEquals(await outcome(other, mine), ["unverified", 0]);
});

Deno.test("The session that is shared is not used any more: who is not yet a member reads nothing later", async () => {
  await using here = clientStage();
  const { host } = await hostAndGuest(here);
  const roomId = await host.createRoom({ initialState: withHistory("shared") });
  await host.syncOnce();
  const before = await host.crypto?.encrypt(roomId, "m.room.message", { msgtype: "m.text", body: "one" });
  assertEquals(await outcome(host, roomId), ["shared", 1]);
  const after = await host.crypto?.encrypt(roomId, "m.room.message", { msgtype: "m.text", body: "two" });
  assertNotEquals(before?.session_id, after?.session_id);
});

Deno.test("What a device has from the backup alone is not shared: the server can have put it there", async () => {
  await using here = clientStage();
  const encryption = { ...sharing("host"), backup: true };
  const first = await sharer(here, "host", { encryption });
  const roomId = await roomOf(first, ["one", "two"]);
  await first.crypto?.idle();
  const host = await newSharer(here, "host", { encryption });
  const guest = await sharer(here, "guest");
  assertEquals((await host.crypto?.backup.restore())?.added, 2);
  assertEquals(await history(host, roomId), ["one by backup", "two by backup"]);
  assertEquals(await outcome(host, roomId), ["nothing", 0]);
  await says(host, roomId, ["three"]);
  await host.inviteUser(roomId, GUEST);
  await accepts(guest, roomId);
  assertEquals(await history(guest, roomId), ["MISSING_KEY", "MISSING_KEY", "three by bundle"]);
});

Deno.test("Of the devices of who is invited only those get the keys that the user has signed", async () => {
  await using here = clientStage();
  const { host, guest } = await hostAndGuest(here);
  const unsigned = here.client("guest", {
    accessToken: "",
    encryption: { shareHistory: true },
    retry: false,
  });
  await unsigned.login({ identifier: GUEST, password: "password of guest" });
  await unsigned.crypto?.start();
  const roomId = await roomOf(host, ["one"]);
  const report = await host.crypto?.shareHistory(roomId, GUEST);
  assertEquals(report, { outcome: "shared", keys: 1, devices: 1 });
  await host.inviteUser(roomId, GUEST);
  await accepts(guest, roomId);
  await unsigned.syncOnce();
  await unsigned.crypto?.idle();
  assertEquals([await history(guest, roomId), await history(unsigned, roomId)], [["one by bundle"], [
    "MISSING_KEY",
  ]]);
});

Deno.test("A file that is gone, is not what was sent, or is no bundle, is given up", async () => {
  const answers = [
    [1, () => Response.json({ errcode: "M_NOT_FOUND", error: "Gone" }, { status: 404 })],
    [3, () => new Response("something else")],
  ] as const;
  for (const [tries, answer] of answers) {
    await using here = clientStage();
    const host = await sharer(here, "host");
    let asked = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.includes("/media/download")) return await here.homeserver.fetch(request);
      asked++;
      return answer();
    };
    const guest = await sharer(here, "guest", { fetch });
    const roomId = await roomOf(host, ["one"]);
    await host.inviteUser(roomId, GUEST);
    await accepts(guest, roomId);
    await here.clock.tick(DAY / 2);
    await guest.syncOnce();
    await guest.crypto?.idle();
    assertEquals([asked, await history(guest, roomId)], [tries, ["MISSING_KEY"]]);
  }
});

Deno.test("A server that fails is asked for the file again, for a day, by the next process too", async () => {
  await using here = clientStage();
  const host = await sharer(here, "host");
  let [isDown, asked] = [true, 0];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.includes("/media/download")) return await here.homeserver.fetch(request);
    asked++;
    return isDown
      ? Response.json({ errcode: "M_UNKNOWN", error: "Down" }, { status: 500 })
      : await here.homeserver.fetch(request);
  };
  const store = new MemoryStore();
  const options = { fetch, store, lease: { duration: 600_000 } };
  const guest = await sharer(here, "guest", options);
  const roomId = await roomOf(host, ["one"]);
  await host.inviteUser(roomId, GUEST);
  await accepts(guest, roomId);
  await here.clock.tick(3_600_000);
  await guest.syncOnce();
  await guest.crypto?.idle();
  assertEquals(asked, 2);
  await guest.close();
  isDown = false;
  const next = await sharer(here, "guest", options);
  await next.syncOnce();
  await next.crypto?.idle();
  assertEquals([asked, await history(next, roomId)], [3, ["one by bundle"]]);
  assertEquals(await kept(store), 0);
});

Deno.test("What is announced a day after the invitation was accepted is not fetched", async () => {
  await using here = clientStage();
  const host = await sharer(here, "host");
  const { fetch, release } = withholding(here);
  const guest = await sharer(here, "guest", { fetch });
  const roomId = await roomOf(host, ["one"]);
  await host.inviteUser(roomId, GUEST);
  await accepts(guest, roomId);
  await here.clock.tick(DAY);
  release();
  await guest.syncOnce();
  await guest.crypto?.idle();
  assertEquals(await history(guest, roomId), ["MISSING_KEY"]);
});

Deno.test("An invitation goes out, whatever becomes of the history", async () => {
  await using here = clientStage();
  const { host, guest } = await hostAndGuest(here);
  const roomId = await roomOf(host, ["one"]);
  using _fault = here.homeserver.faults.add({ kind: "status", status: 500, match: { path: "/media/" } });
  await host.inviteUser(roomId, GUEST);
  await accepts(guest, roomId);
  assert(here.log.lines.some(([, message]) => message === "Could not share the history of a room"));
});

/** How much is remembered of history that is still to come. */
async function kept(store: MemoryStore): Promise<number> {
  let count = 0;
  for await (const { key } of store.list([])) {
    if (key.includes("history_announced") || key.includes("history_accepted")) count++;
  }
  return count;
}
