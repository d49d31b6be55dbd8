import { assert, assertEquals, assertThrows } from "@std/assert";
import { type Client, ValueError } from "@greenroom/matrix";
import type { AccessOptions } from "@greenroom/matrix/bot";
import type { EncryptionInfo, MatrixEvent, RoomID, UserID } from "@greenroom/matrix/types";
import { Access, isSendersWord, reportUnread } from "../../../src/bot/policy/policy.ts";
import { noteEncryption } from "../../../src/types/events/encryption_info.ts";

const ROOM = "!room:a" as RoomID;
const ALICE = "@alice:a" as UserID;

function accessOf(options: AccessOptions, client: unknown = {}): Access {
  return new Access(client as Client, options);
}

Deno.test("Those are heard who are allowed, if any are named, and who are not denied", () => {
  const users = ["@alice:a", "@bob:a", "@alice:b"];
  const heard = (options: AccessOptions) => users.map((user) => accessOf(options).hears(user, ROOM));
  assertEquals(heard({}), [true, true, true]);
  assertEquals(heard({ allow: [] }), [false, false, false]);
  assertEquals(heard({ allow: ["@*:b", "@bob:a"] }), [false, true, true]);
  assertEquals(heard({ deny: ["@alice:*"] }), [false, true, false]);
  assertEquals(heard({ allow: ["@*:a"], deny: ["@bob:a"] }), [true, false, false]);
});

Deno.test("A bot hears in the rooms that are named, or in all", () => {
  const rooms = [ROOM, "!other:a" as RoomID];
  const heard = (options: AccessOptions) => rooms.map((room) => accessOf(options).hears("@alice:a", room));
  assertEquals([heard({}), heard({ rooms: [ROOM] }), heard({ rooms: [] })], [
    [true, true],
    [true, false],
    [false, false],
  ]);
});

Deno.test("What can be no user, pattern, room or power level is refused", () => {
  const user = `@${"a".repeat(251)}:b`;
  accessOf({ allow: [`${user}c`] }); // 255 characters
  for (
    const options of [
      { allow: [`${user}cd`] },
      { allow: [7] },
      { allow: [["@a:b"]] },
      { deny: ["alice"] },
      { deny: "@a:b" },
      { rooms: [7] },
      { rooms: ["#room:a"] },
      { admins: [7] },
      { admins: [["@a:b"]] },
      { admins: [":a"] },
      { admins: "@a:b" },
      { admins: { powerLevel: 0.5 } },
      { admins: { powerLevel: 50, level: 50 } },
    ]
  ) assertThrows(() => accessOf(options as unknown as AccessOptions), ValueError, "Cannot make a bot: ");
  const admins = [7 as unknown as UserID];
  assertThrows(() => accessOf({ admins }), ValueError, "a value of type number");
});

Deno.test("An event is its sender's word if it came encrypted; of a reaction its relation, too", () => {
  const said = (type: string, encryption?: object) =>
    isSendersWord({ event: { type }, encryption: encryption as EncryptionInfo | undefined });
  assertEquals(["m.room.message", "m.reaction"].map((type) => said(type)), [false, false]);
  assertEquals([said("m.room.message", { relation: "clear" }), said("m.room.message", {})], [true, true]);
  const relations = [{ relation: "encrypted" }, { relation: "clear" }, { relation: undefined }, {}];
  assertEquals(relations.map((each) => said("m.reaction", each)), [true, false, false, false]);
});

Deno.test("With encryptedOnly nothing in clear is heard but what no client encrypts", () => {
  const careful = accessOf({ encryptedOnly: true });
  const event = (type: string, more: object = {}) =>
    ({ type, content: {}, ...more }) as unknown as MatrixEvent;
  const heard = (access: Access, each: MatrixEvent) => access.hearsAsSent(each.type, each);
  const clear = [
    event("m.room.message"),
    event("m.room.member", { state_key: ALICE }),
    event("m.room.redaction"),
  ];
  assertEquals(clear.map((each) => heard(careful, each)), [false, true, true]);
  assertEquals(clear.map((each) => heard(accessOf({}), each)), [true, true, true]);
  const encryption = { relation: "encrypted" } as unknown as EncryptionInfo;
  assert(heard(careful, noteEncryption(event("m.room.message"), { encryption })));
});

/** A client to which a user's power level is known, and that counts how often it asks for a room's state. */
function leveled(level: number | undefined, levels: readonly object[] = [{}]) {
  const client = {
    asked: 0,
    getState: () => Promise.resolve(client.asked++),
    stateStore: {
      getPowerLevels: () => Promise.resolve(levels[0]),
      getPowerLevel: () => Promise.resolve(level),
    },
  };
  return client;
}

Deno.test("Admins are the users that are named, or who has the power; of whom nothing is known is none", async () => {
  const named = accessOf({ admins: [ALICE] });
  assertEquals([await named.isAdmin(ALICE, ROOM), await named.isAdmin("@bob:a", ROOM)], [true, false]);
  assert(!await accessOf({}).isAdmin(ALICE, ROOM));
  const byLevel = (level: number | undefined) =>
    accessOf({ admins: { powerLevel: 50 } }, leveled(level)).isAdmin(ALICE, ROOM);
  assertEquals(await Promise.all([49, 50, 51, undefined].map(byLevel)), [false, true, true, false]);
});

Deno.test("The server is asked for power levels only where none are known", async () => {
  const clients = [leveled(50), leveled(50, [])];
  for (const each of clients) await accessOf({ admins: { powerLevel: 50 } }, each).isAdmin(ALICE, ROOM);
  assertEquals(clients.map(({ asked }) => asked), [0, 1]);
});

/** A client whose messages can't be read, with what it logs; waits end when they are let go. */
function unreadable(access: AccessOptions = {}) {
  const handlers = new Map<string, (event: unknown) => void>();
  const said: string[] = [];
  const waits: (() => void)[] = [];
  const client = {
    addEventHandler: (type: string, handler: (event: unknown) => void) => void handlers.set(type, handler),
    api: { clock: { delay: () => new Promise<void>((resolve) => waits.push(resolve)) } },
    log: {
      warn: (message: string, { sender, room }: { sender: string; room: string }) =>
        void said.push(`${message}: ${sender} ${room}`),
    },
    crypto: undefined as { wasRecovered(event: unknown): boolean } | undefined,
  };
  reportUnread(client as unknown as Client, accessOf(access), new AbortController().signal);
  const about = (sender: string, room: string) => ({ sender, room_id: room });
  return {
    ...{ client, said, waits },
    clear: (sender: string, room = ROOM as string) =>
      handlers.get("UNENCRYPTED")?.({ event: about(sender, room) }),
    unread: (sender: string, { room = ROOM as string, code = "MISSING_KEY" } = {}) =>
      handlers.get("UNDECRYPTABLE")?.({ event: about(sender, room), reason: "", code }),
    async end(): Promise<void> {
      for (const end of waits.splice(0)) end();
      await new Promise((resolve) => setTimeout(resolve));
    },
  };
}

Deno.test("Messages that are not answered are said once for each sender and reason, also when others come between", async () => {
  const scene = unreadable();
  for (const sender of ["@a:a", "@b:a", "@a:a", "@b:a"]) scene.clear(sender);
  for (const sender of ["@a:a", "@b:a", "@a:a"]) {
    for (const code of ["MISSING_KEY", "UNTRUSTED"]) scene.unread(sender, { code });
  }
  await scene.end();
  assertEquals(scene.said, [
    `A message in clear is not answered in an encrypted room: @a:a ${ROOM}`,
    `A message in clear is not answered in an encrypted room: @b:a ${ROOM}`,
    `An encrypted message can't be read, and is not answered unless its key comes: @a:a ${ROOM}`,
    `An encrypted message is not answered unless the device that sent it comes to be trusted: @a:a ${ROOM}`,
    `An encrypted message can't be read, and is not answered unless its key comes: @b:a ${ROOM}`,
    `An encrypted message is not answered unless the device that sent it comes to be trusted: @b:a ${ROOM}`,
  ]);
  scene.unread("@a:a");
  assertEquals(scene.waits.length, 0, "nothing waits to be said again");
});

Deno.test("Nothing is said of messages of users and in rooms that the bot does not hear", async () => {
  const scene = unreadable({ deny: ["@b:a"], rooms: [ROOM] });
  for (const say of [scene.clear, (sender: string, room = ROOM) => scene.unread(sender, { room: room })]) {
    say("@b:a");
    say("@a:a", "!other:a" as RoomID);
  }
  await scene.end();
  assertEquals(scene.said, []);
});

Deno.test("Nothing is said of a message whose key came, to the encryption of then or of now", async () => {
  const isRecovered = { wasRecovered: () => true };
  for (const [then, now] of [[isRecovered, undefined], [undefined, isRecovered]]) {
    const scene = unreadable();
    scene.client.crypto = then;
    scene.unread("@a:a");
    scene.client.crypto = now;
    await scene.end();
    assertEquals(scene.said, []);
  }
});
