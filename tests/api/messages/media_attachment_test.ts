import { assert, assertEquals, assertNotEquals } from "@std/assert";
import type { ClientAPI } from "@greenroom/matrix";
import type {
  ContentURI,
  EncryptedFile,
  EventID,
  ImageInfo,
  MediaData,
  RoomID,
  SendFileOptions,
} from "@greenroom/matrix/types";
import { clientAPI } from "../../../src/api/api.ts";
import { HTTPAPI, Session } from "../../../src/api/http/mod.ts";
import { attachmentCipher } from "../../../src/crypto/attachments/attachments.ts";
import { Homeserver } from "@greenroom/matrix/testing";
import { bytesOf, pattern, seal } from "../../support/attachments.ts";
import { PIC, streamOf } from "../../support/media.ts";

/** A message with a file, as it arrives. */
interface Received {
  msgtype: string;
  body: string;
  filename?: string;
  url?: ContentURI;
  file?: EncryptedFile;
  info?: ImageInfo;
}

/** Alice on a homeserver, with a room in clear and one that she encrypts for. */
async function scene(settings: ConstructorParameters<typeof Homeserver>[0] = {}) {
  const homeserver = new Homeserver(settings);
  const { accessToken } = await homeserver.createUser("alice");
  const uploads: { type: string | null; query: string; body: Uint8Array }[] = [];
  const http = new HTTPAPI({
    baseUrl: homeserver.baseUrl,
    accessToken,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { pathname, search } = new URL(request.url);
      if (pathname.endsWith("/upload")) {
        const body = await request.clone().bytes();
        uploads.push({ type: request.headers.get("content-type"), query: search, body });
      }
      return await homeserver.fetch(request);
    },
  });
  const asked: RoomID[] = [];
  let secret: RoomID | undefined;
  const api = clientAPI(
    new Session(http),
    (core) => ({
      ...core,
      isEncrypted(roomId) {
        asked.push(roomId);
        return Promise.resolve(roomId === secret);
      },
    }),
    attachmentCipher,
  );
  const plain = await api.createRoom();
  const encrypted = secret = await api.createRoom();
  return {
    api,
    plain,
    encrypted,
    uploads,
    asked,
    [Symbol.asyncDispose]: () => homeserver[Symbol.asyncDispose](),
  };
}

async function received(api: ClientAPI, roomId: RoomID, eventId: EventID): Promise<Received> {
  return (await api.getEvent(roomId, eventId)).content as unknown as Received;
}

const picture = pattern(5_000);
const small = pattern(70);
const octets = "application/octet-stream";

Deno.test("Data sent to a room in clear is uploaded with its type and name, and so is its thumbnail", async () => {
  await using all = await scene();
  const { api, plain, uploads } = all;
  const eventId = await api.sendImage(plain, picture, {
    fileName: "set.png",
    info: { mimetype: "image/png", w: 12, h: 9 },
    thumbnail: { data: new Blob([small], { type: "image/webp" }), info: { w: 4, h: 3 } },
  });
  const { url, info, ...rest } = await received(api, plain, eventId);
  assertEquals(rest, { msgtype: "m.image", body: "set.png", filename: "set.png" });
  assert(url !== undefined && info?.thumbnail_url !== undefined);
  assertEquals(info, {
    mimetype: "image/png",
    size: 5_000,
    w: 12,
    h: 9,
    thumbnail_url: info.thumbnail_url,
    thumbnail_info: { mimetype: "image/webp", size: 70, w: 4, h: 3 },
  });
  assertEquals(await api.downloadMedia(url), picture);
  assertEquals(await api.downloadMedia(info.thumbnail_url), small);
  assertEquals(uploads, [
    { type: "image/webp", query: "", body: small },
    { type: "image/png", query: "?filename=set.png", body: picture },
  ]);
});

Deno.test("S53 data sent to an encrypted room is encrypted, thumbnail too, each with a key of its own, and its metadata is not sent", async () => {
  await using all = await scene();
  const { api, encrypted, uploads } = all;
  const eventId = await api.sendImage(encrypted, picture, {
    fileName: "set.png",
    info: { mimetype: "image/png", w: 12, h: 9 },
    thumbnail: { data: small, info: { mimetype: "image/webp", w: 4, h: 3 } },
  });
  const { file, info, ...rest } = await received(api, encrypted, eventId);
  assertEquals(rest, { msgtype: "m.image", body: "set.png", filename: "set.png" });
  assert(file !== undefined && info?.thumbnail_file !== undefined);
  assertEquals(info, {
    mimetype: "image/png",
    size: 5_000,
    w: 12,
    h: 9,
    thumbnail_file: info.thumbnail_file,
    thumbnail_info: { mimetype: "image/webp", size: 70, w: 4, h: 3 },
  });
  assertNotEquals(file.key.k, info.thumbnail_file.key.k);
  assertEquals(uploads.map(({ type, query, body }) => [type, query, body.length]), [
    [octets, "", 70],
    [octets, "", 5_000],
  ]);
  assertNotEquals(uploads[1]?.body, picture);
  assertEquals(await api.downloadMedia(file), picture);
  assertEquals(await bytesOf((await api.downloadMediaStream(file)).stream), picture);
  assertEquals(await api.downloadThumbnail(info.thumbnail_file), small);
});

Deno.test("Every kind of data can be sent, with the metadata that it has", async () => {
  await using all = await scene();
  const { api, plain, encrypted } = all;
  const cases: [data: () => MediaData, options: SendFileOptions, filename?: string, info?: ImageInfo][] = [
    [() => small, {}, undefined, { size: 70 }],
    [() => small.buffer, { fileType: "m.audio" }, undefined, { size: 70 }],
    [() => new Blob([small], { type: "text/css" }), {}, undefined, { size: 70, mimetype: "text/css" }],
    [() => new File([small], "a.txt"), {}, "a.txt", { size: 70 }],
    [() => new File([small], "a.txt"), { fileName: "b.txt" }, "b.txt", { size: 70 }],
    [() => streamOf(small).stream, { info: { mimetype: "a/b" } }, undefined, { size: 70, mimetype: "a/b" }],
    [() => streamOf(small.slice(0, 9), small.slice(9)).stream, { info: { size: 70 } }, undefined, {
      size: 70,
    }],
    [
      () => ({ readable: streamOf(small).stream, stat: () => Promise.resolve({ size: 70 }) }),
      { fileType: "m.video" },
      undefined,
      { size: 70 },
    ],
    [() => new Uint8Array(), {}, undefined, { size: 0 }],
  ];
  for (const roomId of [plain, encrypted]) {
    for (const [data, options, filename, info] of cases) {
      const content = await received(api, roomId, await api.sendFile(roomId, data(), options));
      const place = (roomId === plain ? content.url : content.file) ?? PIC;
      assertEquals([content.filename, content.info], [filename, info]);
      assertEquals(content.msgtype, options.fileType ?? "m.file");
      assertEquals((await api.downloadMedia(place)).length, info?.size);
      assertEquals(roomId === plain ? content.file : content.url, undefined);
    }
  }
});

Deno.test("disableEncryption uploads in clear, without a check whether the room is encrypted", async () => {
  await using all = await scene();
  const { api, encrypted, uploads, asked } = all;
  await api.sendFile(encrypted, small, { disableEncryption: true, thumbnail: { data: small } });
  assertEquals([uploads.map(({ body }) => body), asked], [[small, small], []]);
});

Deno.test("A file that was uploaded before is sent as given: a URL, or an encrypted file, whatever the room", async () => {
  await using all = await scene();
  const { api, plain, encrypted, uploads, asked } = all;
  const file: EncryptedFile = { ...(await seal(small)).secrets, url: PIC };
  for (const roomId of [plain, encrypted]) {
    const [a, b] = [await api.sendFile(roomId, PIC), await api.sendImage(roomId, file, { info: { w: 3 } })];
    assertEquals(await received(api, roomId, a), { msgtype: "m.file", body: "file", url: PIC });
    assertEquals(await received(api, roomId, b), { msgtype: "m.image", body: "image", file, info: { w: 3 } });
  }
  assertEquals([uploads, asked], [[], []]);
  const withThumbnail = await api.sendFile(encrypted, file, { thumbnail: { data: small } });
  const { info } = await received(api, encrypted, withThumbnail);
  assertEquals(info?.thumbnail_info, { size: 70 });
  assertEquals(await api.downloadThumbnail(info?.thumbnail_file ?? PIC), small);
});

Deno.test("A thumbnail that is uploaded takes the place of what info says of another", async () => {
  await using all = await scene();
  const { api, plain } = all;
  const info = { thumbnail_url: PIC, thumbnail_info: { w: 900 }, w: 1000 };
  const eventId = await api.sendImage(plain, picture, { info, thumbnail: { data: small } });
  const sent = await received(api, plain, eventId);
  assertNotEquals(sent.info?.thumbnail_url, PIC);
  assertEquals([sent.info?.thumbnail_info, sent.info?.w], [{ size: 70 }, 1000]);
});

Deno.test("An edit that brings a new file has it in its new content", async () => {
  await using all = await scene();
  const { api, encrypted } = all;
  const first = await api.sendFile(encrypted, small);
  const relatesTo = { rel_type: "m.replace", event_id: first } as const;
  const edit = await api.sendFile(encrypted, picture, { relatesTo, fileName: "new" });
  const content = (await api.getEvent(encrypted, edit)).content as unknown as { "m.new_content": Received };
  assertEquals(await api.downloadMedia(content["m.new_content"].file ?? PIC), picture);
});

Deno.test("Progress is reported of the file, not of its thumbnail", async () => {
  await using all = await scene();
  const { api, plain, encrypted } = all;
  for (const roomId of [plain, encrypted]) {
    const progress: unknown[] = [];
    const onProgress = (...step: unknown[]) => progress.push(step);
    await api.sendFile(roomId, picture, { onProgress, thumbnail: { data: small } });
    assertEquals(progress, [[5_000, 5_000]]);
  }
});
