import { assertEquals } from "@std/assert";
import { UnreadRooms } from "../../../src/appservice/own_users.ts";
import { recordingLogger } from "../../actors/kernel/support.ts";
import { ENCRYPTED } from "../../client/support/encrypted_room.ts";
import { appserviceScene } from "../scene.ts";

const BOT = "@echo:localhost";
const secret = (room_id: string) => ({ type: "m.room.encrypted", room_id, sender: "@alice:localhost" });

/** Says of which rooms is warned. */
function unread({ stored = [] as string[], joined = () => Promise.resolve([] as string[]) } = {}) {
  const log = recordingLogger();
  let asked = 0;
  const rooms = new UnreadRooms({
    userId: BOT,
    isOwn: (userId) => userId.startsWith("@_echo_"),
    isThere: (roomId) => Promise.resolve(stored.includes(roomId)),
    joinedRooms: () => {
      asked++;
      return joined();
    },
    log,
  });
  return {
    async shows(...events: unknown[]): Promise<unknown[]> {
      await rooms.look(events);
      return log.lines.map((line) => JSON.stringify(line).match(/!\w+/)?.[0]);
    },
    asked: () => asked,
  };
}

Deno.test("An encrypted room without the own user is told once, and asked for once", async () => {
  const { shows, asked } = unread();
  assertEquals(await shows({ ...secret("!d"), sender: "@_echo_polly:localhost" }), []);
  assertEquals(await shows(secret("!a"), secret("!a"), { type: "m.room.message", room_id: "!b" }, null), [
    "!a",
  ]);
  assertEquals(await shows(secret("!a")), ["!a"]);
  assertEquals(await shows(secret("!c")), ["!a", "!c"]);
  assertEquals(asked(), 2);
});

Deno.test("A room that the own user is in is not told, whoever says so: the store, the same transactions, the homeserver", async () => {
  const { shows } = unread({ stored: ["!a"], joined: () => Promise.resolve(["!c"]) });
  const join = { type: "m.room.member", room_id: "!b", state_key: BOT, content: { membership: "join" } };
  assertEquals(await shows(secret("!a"), join, secret("!b"), secret("!c")), []);
});

Deno.test("Where it can't be found out whether the own user is there, nothing is told, and it is asked again", async () => {
  let isDown = true;
  const { shows } = unread({
    joined: () => isDown ? Promise.reject(new TypeError("the connection was refused")) : Promise.resolve([]),
  });
  assertEquals(await shows(secret("!a")), []);
  isDown = false;
  assertEquals(await shows(secret("!a")), ["!a"]);
});

Deno.test("Who speaks to a ghost in an encrypted room without the own user is not read: that is logged, once, with the mend", async () => {
  await using scene = await appserviceScene({ encryption: true });
  const { alice, serving, stage } = scene;
  const undecryptable: string[] = [];
  const read: string[] = [];
  serving?.on("UNDECRYPTABLE", ({ event }) => void undecryptable.push(event.sender));
  serving?.on("m.room.message", ({ content }) => void read.push(content.body));
  const ghost = serving?.intent("_echo_polly");
  await ghost?.ensureRegistered();
  const room = await alice.createRoom({ invitees: ["@_echo_polly:localhost"], initialState: ENCRYPTED });
  await ghost?.joinRoom(room);
  await stage.settle();
  await alice.syncOnce();
  for (const text of ["who is there?", "hello?"]) await alice.sendText(room, text);
  await stage.until(() => undecryptable.length === 2);
  const warned = () =>
    stage.log.lines.filter((line) => JSON.stringify(line).includes("the own user is not in"));
  assertEquals(warned().length, 1);
  await ghost?.inviteUser(room, "@echo:localhost");
  await serving?.botClient.joinRoom(room);
  await stage.settle();
  await alice.syncOnce();
  await alice.sendText(room, "and now?");
  await stage.until(() => read.length === 1);
  assertEquals(read, ["and now?"]);
  assertEquals(warned().length, 1);
});
