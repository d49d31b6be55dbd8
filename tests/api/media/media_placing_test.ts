import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { clientAPI } from "../../../src/api/api.ts";
import { sendHelpersAPI } from "../../../src/api/messages/mod.ts";
import type { EncryptedFile, MediaData, RoomID } from "@greenroom/matrix/types";
import { AttachmentError, EncryptionError, TooLargeError, ValueError } from "@greenroom/matrix/errors";
import { attachmentCipher } from "../../../src/crypto/attachments/attachments.ts";
import { bytesOf, pattern, seal } from "../../support/attachments.ts";
import { PIC, streamOf, UPLOAD } from "../../support/media.ts";
import { refusal, type Rule, scripted } from "../../support/scripted_fetch.ts";

const small = pattern(70);
const ROOM = "!room";
const SEND = `PUT /_matrix/client/v3/rooms/${ROOM}/send/m.room.message/t1`;

const [YES, NO] = [true, false];
const yes = () => Promise.resolve(YES);
const no = () => Promise.resolve(NO);

/** The helpers in a scripted world. */
function helpers(
  rules: Record<string, Rule> = {},
  isEncrypted: () => Promise<boolean> = no,
) {
  const made = scripted({ [UPLOAD]: { content_uri: PIC }, [SEND]: { event_id: "$sent" }, ...rules });
  const { session } = made;
  const api = clientAPI(session, (core) => ({ ...core, isEncrypted }), attachmentCipher);
  return { ...made, api };
}

Deno.test("Nothing is asked or uploaded before all arguments were checked, and streams stay the caller's", async () => {
  const { stream, state } = streamOf(small);
  const locked = streamOf(small).stream;
  const reader = locked.getReader();
  const file: EncryptedFile = { ...(await seal(small)).secrets, url: PIC };
  const bad: [roomId: string, data: unknown, options: object][] = [
    ["room", stream, {}],
    [ROOM, undefined, {}],
    [ROOM, null, {}],
    [ROOM, {}, {}],
    [ROOM, 7, {}],
    [ROOM, [small], {}],
    [ROOM, locked, {}],
    [ROOM, { readable: locked }, {}],
    [ROOM, "", {}],
    [ROOM, "https://example.org/x", {}],
    [ROOM, { ...file, url: "mxc://example.org/.." }, {}],
    [ROOM, { ...file, url: undefined }, {}],
    [ROOM, stream, { info: { mimetype: "png" } }],
    [ROOM, stream, { info: { mimetype: "image/png\r\nx: y" } }],
    [ROOM, stream, { info: { size: -1 } }],
    [ROOM, small, { info: { size: 71 } }],
    [ROOM, new Blob([small]), { info: { size: 69 } }],
    [ROOM, stream, { thumbnail: { data: undefined } }],
    [ROOM, stream, { thumbnail: { data: PIC } }],
    [ROOM, stream, { thumbnail: { data: file } }],
    [ROOM, stream, { thumbnail: { data: locked } }],
    [ROOM, stream, { thumbnail: { data: small, info: { size: 3 } } }],
    [ROOM, stream, { thumbnail: { data: small, info: { mimetype: "x" } } }],
  ];
  for (const [roomId, data, options] of bad) {
    const { api, requests } = helpers({}, () => Promise.reject(new TypeError("Not expected")));
    await assertRejects(() => api.sendFile(roomId as RoomID, data as MediaData, options), ValueError);
    await assertRejects(() => api.sendImage(roomId as RoomID, data as MediaData, options), ValueError);
    assertEquals(requests, []);
  }
  const { api, requests } = helpers();
  await assertRejects(() => api.sendFile(ROOM, { ...file, v: "v1" }), AttachmentError);
  assertEquals([requests, state.cancelled, stream.locked], [[], false, false]);
  reader.releaseLock();
});

Deno.test("If it can't be known whether the room is encrypted, or it is and nothing encrypts, nothing is uploaded", async () => {
  const { stream, state } = streamOf(small);
  const unknown = helpers({}, () => Promise.reject(new RangeError("who knows")));
  await assertRejects(() => unknown.api.sendFile(ROOM, stream), RangeError, "who knows");
  assertEquals([unknown.requests, state.cancelled], [[], true]);
  const { session, requests } = scripted({ [UPLOAD]: { content_uri: PIC } });
  const unable = clientAPI(session, (core) => ({ ...core, isEncrypted: yes }));
  await assertRejects(() => unable.sendFile(ROOM, small), EncryptionError, "hand in a cipher");
  assert(!requests.some(({ body }) => body instanceof Uint8Array && body.length > 0));
});

Deno.test("A refused upload is what sending fails with; nothing is sent, and streams are let go", async () => {
  const [file, thumbnail] = [streamOf(small), streamOf(small)];
  const { api, requests } = helpers({ [UPLOAD]: refusal(413, "M_TOO_LARGE") }, yes);
  const options = { info: { size: 70 }, thumbnail: { data: thumbnail.stream, info: { size: 70 } } };
  await assertRejects(() => api.sendFile(ROOM, file.stream, options), TooLargeError);
  assertEquals(requests.length, 1);
  assert(file.state.cancelled && (thumbnail.state.cancelled || thumbnail.stream.locked));
});

Deno.test("A stream of another size than was said is not sent", async () => {
  for (const isEncrypted of [yes, undefined]) {
    const { api, log } = helpers({}, isEncrypted);
    const sending = api.sendFile(ROOM, streamOf(small).stream, { info: { size: 69 } });
    await assertRejects(() => sending, ValueError, "69 bytes");
    assert(!log().some((line) => line.startsWith("PUT")));
  }
});

Deno.test("A server that answers before it has all of an encrypted file gets no message", async () => {
  const sent: unknown[] = [];
  const api = sendHelpersAPI((...args) => {
    sent.push(args);
    return Promise.resolve("$sent");
  }, {
    nextTransactionId: () => "t1",
    upload: async (source) => {
      await source.open().getReader().read();
      return PIC;
    },
    cipher: attachmentCipher,
    isEncrypted: yes,
  });
  await assertRejects(() => api.sendFile(ROOM, new Uint8Array(1 << 20)), EncryptionError);
  assertEquals(sent, []);
});

Deno.test("A second try of an upload has a key of its own, which the message contains", async () => {
  const bodies: Uint8Array[] = [];
  const sent: { file?: EncryptedFile }[] = [];
  const api = sendHelpersAPI((_roomId, _type, content) => {
    sent.push(content as { file?: EncryptedFile });
    return Promise.resolve("$sent");
  }, {
    nextTransactionId: () => "t1",
    upload: async (source) => {
      assert(source.repeatable);
      for (let time = 0; time < 2; time++) bodies.push(await bytesOf(source.open()));
      return PIC;
    },
    cipher: attachmentCipher,
    isEncrypted: yes,
  });
  await api.sendFile(ROOM, small);
  assertNotEquals(bodies[0], bodies[1]);
  const last = new Uint8Array(bodies[1] ?? []);
  await attachmentCipher.decrypt(last, sent[0]?.file ?? { ...(await seal(small)).secrets });
  assertEquals(last, small);
});

Deno.test("Uploads and the question carry the request's options, but not the message's own", async () => {
  const seen: unknown[] = [];
  const sent: unknown[] = [];
  const api = sendHelpersAPI((_roomId, _type, _content, options) => {
    sent.push(Object.fromEntries(Object.entries(options ?? {}))); // but not which operation was called
    return Promise.resolve("$sent");
  }, {
    nextTransactionId: () => "t1",
    upload: (_source, _description, options) => {
      seen.push(options);
      return Promise.resolve(PIC);
    },
    cipher: attachmentCipher,
    isEncrypted(_roomId, options) {
      seen.push(options);
      return no();
    },
  });
  const { signal } = new AbortController();
  const request = {
    signal,
    requestTimeout: 5,
    headers: { a: "b" },
    retry: {},
    asUserId: "@b:c",
    asDeviceId: "D",
  } as const;
  const message = { ...request, txnId: "t1", timestamp: 12, query: { x: "y" } };
  await api.sendFile(ROOM, small, message);
  assertEquals([seen, sent], [[request, request], [message]]);
});
