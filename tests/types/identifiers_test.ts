import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { clientAPI } from "../../src/api/api.ts";
import { Client } from "../../src/client/client.ts";
import { ValueError } from "@greenroom/matrix";
import type { ContentURI, RoomAlias, UserID } from "@greenroom/matrix/types";
import { scripted } from "../support/scripted_fetch.ts";
import {
  isEventId,
  isName,
  isOpaqueId,
  isReceivedEventId,
  isReceivedRoomAlias,
  isReceivedRoomId,
  isReceivedUserId,
  isRoomAlias,
  isRoomId,
  isUserId,
  toEventId,
  toRoomAlias,
  toRoomId,
  toUserId,
} from "../../src/types/identifiers.ts";

const LONGEST = "é".repeat(126); // 252 bytes

const cases: Readonly<
  Record<string, [is: (value: unknown) => boolean, fit: readonly string[], unfit: readonly unknown[]]>
> = {
  "a user ID is one also if it is historical: of capitals, of any script, with control characters, or empty in front":
    [
      isReceivedUserId,
      [
        "@a:b",
        "@:b",
        "@ALICE:Example.org:8448",
        "@Алиса 😀:b",
        "@\u0001:b",
        "@\ue000:b",
        `@${LONGEST}:b`,
        "@a:[::1]",
      ],
      [
        "",
        "@",
        "@a",
        "a:b",
        "!a:b",
        "@a\0:b",
        "@a\ud800:b",
        `@${LONGEST}c:b`,
        `@${"a".repeat(254)}`,
        7,
        null,
        ["@a:b"],
      ],
    ],
  "a room ID is one with a server's name and without": [
    isReceivedRoomId,
    ["!a:b", "!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM", "!\u0001", `!${LONGEST}`],
    ["", "a", "#a:b", "!\0", "!\udfff", `!${LONGEST}abc`, {}],
  ],
  "an event ID is one of every room version": [
    isReceivedEventId,
    ["$a:b", "$Rqnc-F-dvnEYJTyHq_iKxU2bZ1CI92-kuZq3a5lr5Zg", "$acR1l0raoZnm60CBwAVgqbZqoO/mYU81xysh1u7XcJk"],
    ["", "a", "!a", "$\0", `$${LONGEST}abc`, undefined],
  ],
  "a room alias names its server": [isReceivedRoomAlias, ["#a:b", "#é:b"], ["#a", "#a\0:b", "!a:b"]],
  "a device, a session and a request are called whatever is printable": [
    isOpaqueId,
    ["A", "Ä phone", "__proto__", "M64w9xV8VVxmG9mSGkzKOjeOf4aEaIqOzZVqjUnQXyk", "+/=", "😀", "\ue000"],
    ["", "a\n", "\0", "\u0001", "\u007f", "\u0085", "\ud800", `${LONGEST}abcd`, 7, null],
  ],
  "a type and a state key are of any characters": [isName, ["", "\0", "\ud800", LONGEST], [
    `${LONGEST}abcd`,
    7,
    null,
  ]],
};

for (const [name, [is, fit, unfit]] of Object.entries(cases)) {
  Deno.test(name, () => {
    for (const value of fit) assert(is(value), JSON.stringify(value));
    for (const value of unfit) assert(!is(value), JSON.stringify(value));
  });
}

const SERVER_NAMES = [
  "example.org",
  "EXAMPLE.org:8448",
  "localhost",
  "1.2.3.4",
  "1.2.3.4:65535",
  "[::1]",
  "[2001:db8::1]:80",
  "xn--bcher-kva.example:0",
];

const NO_SERVER_NAMES = [
  "",
  ":",
  "::",
  ":80",
  "example.org:",
  "example.org:port",
  "example.org:65536",
  "example.org:099999",
  "example.org:80:80",
  "example.org:-1",
  "[zz]",
  "[]",
  "[:]",
  "[:::]",
  "[..]",
  "[::1",
  "::1",
  "[::1]x",
  "exa_mple.org",
  "exa mple.org",
  "bücher.example",
  "example.org\n",
  "example.org/",
  "a".repeat(256),
];

Deno.test("Client.parseUserId() takes every server name that the grammar has, and no other", () => {
  for (const name of SERVER_NAMES) assertEquals(Client.parseUserId(`@alice:${name}`), ["alice", name]);
  for (const name of NO_SERVER_NAMES) {
    assertThrows(
      () => Client.parseUserId(`@alice:${name}`),
      ValueError,
      "must look like @localpart:server.name",
    );
  }
});

Deno.test("Client.parseUserId() takes historical local parts", () => {
  for (const localpart of ["", "Alice", "a b", "ü🎭", "a@b", "#", "a/b", "'\"", "\n", "[1]"]) {
    assertEquals(Client.parseUserId(`@${localpart}:example.org`), [localpart, "example.org"]);
  }
});

Deno.test("Client.parseUserId() refuses what is no user ID, or longer than 255 bytes", () => {
  const longest = "a".repeat(255 - "@:example.org".length);
  assertEquals(Client.parseUserId(`@${longest}:example.org`)[0], longest);
  const bad = [
    "",
    "@",
    "@alice",
    "alice:example.org",
    "#alice:example.org",
    "@a\0b:example.org",
    "@\ud800:example.org",
    `@${longest}a:example.org`,
    `@${"ü".repeat(longest.length / 2 + 1)}:example.org`,
  ];
  for (const mxid of bad) assertThrows(() => Client.parseUserId(mxid), ValueError);
  for (const mxid of [undefined, null, 7, {}, ["@alice:example.org"]]) {
    assertThrows(() => Client.parseUserId(mxid as unknown as string), ValueError);
  }
});

Deno.test("Operations send nothing for a user, an alias or a content URI whose server name can't be one", async () => {
  const { session, requests } = scripted();
  const api = clientAPI(session);
  for (const name of NO_SERVER_NAMES) {
    await assertRejects(() => api.inviteUser("!room", `@alice:${name}`), ValueError, "userId");
    await assertRejects(async () => await api.getProfile(`@alice:${name}` as UserID), ValueError, "userId");
    await assertRejects(async () => await api.getRoomAlias(`#stage:${name}`), ValueError, "roomAlias");
    await assertRejects(() => api.joinRoom(`#stage:${name}`), ValueError, "roomIdOrAlias");
    await assertRejects(() => api.downloadMedia(`mxc://${name}/pic`), ValueError, "content URI");
    await assertRejects(() => api.setAvatarUrl(`mxc://${name}/pic` as ContentURI), ValueError, "content URI");
  }
  const long = `#${"a".repeat(250)}:b.org` as RoomAlias;
  await assertRejects(async () => await api.getRoomAlias(long), ValueError, "roomAlias");
  assertEquals(requests, []);
});

Deno.test("Operations take every server name that the grammar has", async () => {
  for (const name of SERVER_NAMES) {
    const { session, log } = scripted({
      [`GET /_matrix/client/v3/directory/room/#stage:${name}`]: { room_id: "!room", servers: [] },
      "GET /_matrix/client/versions": { versions: ["v1.11"] },
      [`GET /_matrix/client/v1/media/download/${name}/pic`]: new Response("x"),
    });
    const api = clientAPI(session);
    await api.getRoomAlias(`#stage:${name}`);
    await api.downloadMedia(`mxc://${name}/pic`);
    assertEquals(log().length, 3, name);
  }
});

Deno.test("Guards and conversions take from outside what an identifier can be, and refuse the rest by its name", () => {
  const kinds = [
    [isUserId, toUserId, ["@alice:example.org", "@:b.org"], "a user ID"],
    [isRoomId, toRoomId, ["!room:example.org", "!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM"], "a room ID"],
    [
      isEventId,
      toEventId,
      ["$event:example.org", "$31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM"],
      "an event ID",
    ],
    [isRoomAlias, toRoomAlias, ["#stage:example.org"], "a room alias"],
  ] as const;
  const bad = [undefined, null, 7, {}, "", "@", "!", "$", "#", "alice", "@alice", "#stage", " !room"];
  for (const [is, to, good, name] of kinds) {
    for (const text of good) assertEquals([is(text), to(text)], [true, text]);
    for (const value of bad) {
      assert(!is(value), `${name}: ${value}`);
      assertThrows(() => to(value as string), ValueError, `it must be ${name}`);
    }
    for (const [, , others] of kinds) {
      if (others !== good) { for (const text of others) assert(!is(text), `${name}: ${text}`); }
    }
  }
});
