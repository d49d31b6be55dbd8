import { assert, assertEquals, assertRejects } from "@std/assert";
import { HTTPAPI, Session } from "../../../src/api/http/mod.ts";
import { mediaAPI } from "../../../src/api/media/media.ts";
import type { MediaData } from "@greenroom/matrix/types";
import {
  NetworkError,
  ServiceResponseError,
  TooLargeError,
  UnknownTokenError,
  ValueError,
} from "@greenroom/matrix/errors";
import { TestClock } from "@greenroom/matrix/testing";
import { media, PIC, streamOf, text, UPLOAD } from "../../support/media.ts";
import { refusal, untilSettled } from "../../support/scripted_fetch.ts";

Deno.test("uploadMedia() takes bytes, buffers, blobs, files and streams, each with its type and name", async () => {
  const bytes = text("curtain");
  const file = new File([bytes], "a ü.txt", { type: "text/plain" });
  const cases: [MediaData, object, string, string][] = [
    [bytes, {}, "application/octet-stream", ""],
    [bytes.buffer, { mimeType: "image/png", filename: "x.png" }, "image/png", "filename=x.png"],
    [text("a curtain!").subarray(2, 9), {}, "application/octet-stream", ""],
    [new Blob([bytes], { type: "text/css" }), {}, "text/css", ""],
    [file, {}, "text/plain", "filename=a%20%C3%BC.txt"],
    [file, { mimeType: "text/html; charset=utf-8", filename: "b" }, "text/html; charset=utf-8", "filename=b"],
    [
      streamOf(bytes.slice(0, 3), new Uint8Array(), bytes.slice(3)).stream,
      {},
      "application/octet-stream",
      "",
    ],
    [streamOf(bytes).stream, { size: 7 }, "application/octet-stream", ""],
    [{ readable: streamOf(bytes).stream }, { size: 7 }, "application/octet-stream", ""],
    [
      { readable: streamOf(bytes).stream, stat: () => Promise.resolve({ size: 7 }) },
      {},
      "application/octet-stream",
      "",
    ],
  ];
  for (const [data, options, type, query] of cases) {
    const { api, requests } = media();
    assertEquals(await api.uploadMedia(data, options), PIC);
    const [request] = requests;
    assertEquals([request?.headers.get("content-type"), request?.query], [type, query]);
    assertEquals(request?.body, bytes);
  }
});

Deno.test("uploadMedia() uploads nothing as nothing", async () => {
  for (const data of [new Uint8Array(), new Blob([]), streamOf().stream]) {
    const { api, requests } = media();
    await api.uploadMedia(data);
    assertEquals(requests[0]?.body, new Uint8Array());
  }
});

Deno.test("uploadMedia() sends the length, and a file as it is read, over HTTP", async () => {
  const path = await Deno.makeTempFile();
  const size = 3 * 2 ** 20 + 17;
  await Deno.truncate(path, size);
  const seen: [length: string | null, encoding: string | null, received: number][] = [];
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const { byteLength } = await request.arrayBuffer();
    seen.push([request.headers.get("content-length"), request.headers.get("transfer-encoding"), byteLength]);
    return Response.json({ content_uri: PIC });
  });
  const http = new HTTPAPI({ baseUrl: `http://127.0.0.1:${server.addr.port}`, accessToken: "t" });
  const api = mediaAPI(new Session(http));
  const progress: [number, number | undefined][] = [];
  await api.uploadMedia(await Deno.open(path), { onProgress: (...step) => progress.push(step) });
  await api.uploadMedia(new Uint8Array(5));
  await api.uploadMedia(new Blob([new Uint8Array(6)]));
  await api.uploadMedia(ReadableStream.from<Uint8Array>([]), { size: 0 });
  assertEquals(seen, [[String(size), null, size], ["5", null, 5], ["6", null, 6], ["0", null, 0]]);
  assertEquals(progress.at(-1), [size, size]);
  assert(progress.length > 40 && progress.every(([sent], index) => sent > (progress[index - 1]?.[0] ?? 0)));
  await Deno.remove(path);
});

Deno.test("uploadMedia() refuses data, types and sizes that can't be, and sends nothing", async () => {
  const locked = streamOf(text("x")).stream;
  const reader = locked.getReader();
  const bad: [unknown, object][] = [
    ["text", {}],
    [undefined, {}],
    [{}, {}],
    [[1, 2], {}],
    [locked, {}],
    [{ readable: "x" }, {}],
    [new Uint8Array(3), { size: 4 }],
    [new Blob(["abc"]), { size: 2 }],
    [new Uint8Array(3), { size: -1 }],
    [new Uint8Array(3), { size: 1.5 }],
    [new Uint8Array(3), { mimeType: "png" }],
    [new Uint8Array(3), { mimeType: "image/png\r\nx-evil: 1" }],
    [new Uint8Array(3), { mimeType: "image/ü" }],
    [streamOf("text").stream, {}],
  ];
  for (const [data, options] of bad) {
    const { api, requests } = media();
    await assertRejects(() => api.uploadMedia(data as MediaData, options), ValueError);
    assertEquals(requests, []);
  }
  reader.releaseLock();
});

Deno.test("uploadMedia() fails with a ValueError if a stream has another size than given, and cancels it", async () => {
  for (const parts of [[text("four")], [text("fou"), text("rteen")]]) {
    const { api, clock } = media();
    const { stream } = streamOf(...parts);
    await assertRejects(
      () => untilSettled(clock, api.uploadMedia(stream, { size: 5 })),
      ValueError,
      "5 bytes",
    );
    assertEquals(clock.pending, 0);
  }
});

Deno.test("uploadMedia() fails with what the stream fails with, and with what onProgress throws", async () => {
  const broken = streamOf(text("ab"), new RangeError("disk on fire")).stream;
  await assertRejects(() => media().api.uploadMedia(broken, { size: 5 }), RangeError, "disk on fire");
  const unknown = streamOf(text("ab"), new RangeError("disk on fire")).stream;
  await assertRejects(() => media().api.uploadMedia(unknown), RangeError, "disk on fire");
  const onProgress = () => {
    throw new SyntaxError("my fault");
  };
  await assertRejects(() => media().api.uploadMedia(text("ab"), { onProgress }), SyntaxError, "my fault");
});

Deno.test("uploadMedia() holds a stream of unknown size in memory up to 32 MiB, and no further", async () => {
  const part = new Uint8Array(2 ** 20);
  const fits = media();
  await fits.api.uploadMedia(streamOf(...Array(32).fill(part)).stream);
  assertEquals((fits.requests[0]?.body as Uint8Array).length, 32 * 2 ** 20);
  const { stream, state } = streamOf(...Array(34).fill(part));
  const tooLarge = media();
  await assertRejects(() => tooLarge.api.uploadMedia(stream), ValueError, "say its size");
  assertEquals([tooLarge.requests, state.cancelled], [[], true]);
});

Deno.test("uploadMedia() stops reading a stream of unknown size when its signal aborts", async () => {
  const controller = new AbortController();
  const { api, requests } = media();
  let letGo = false;
  const stalled = new ReadableStream<Uint8Array>({ cancel: () => void (letGo = true) });
  const upload = assertRejects(
    () => api.uploadMedia(stalled, { signal: controller.signal }),
    RangeError,
    "enough",
  );
  controller.abort(new RangeError("enough"));
  await upload;
  assertEquals([requests, letGo], [[], true]);
});

Deno.test("uploadMedia() cancels the stream if the request fails before it is read, or in the middle", async () => {
  const refusing: typeof fetch = () => Promise.reject(new TypeError("connection refused"));
  const answering: typeof fetch = () => Promise.resolve(refusal(413, "M_TOO_LARGE"));
  for (const [send, expected] of [[refusing, NetworkError], [answering, TooLargeError]] as const) {
    const { stream, state } = streamOf(text("ab"));
    const http = new HTTPAPI({ baseUrl: "https://hs.example.org", fetch: send, clock: new TestClock() });
    await assertRejects(() => mediaAPI(new Session(http)).uploadMedia(stream, { size: 2 }), expected);
    assert(state.cancelled);
  }
});

Deno.test("uploadMedia() is one try, and demands a content URI", async () => {
  const lost = media({ [UPLOAD]: new TypeError("reset") });
  await assertRejects(() => lost.api.uploadMedia(text("x")), NetworkError);
  assertEquals(lost.requests.length, 1);
  for (const answer of [{}, { content_uri: 7 }]) {
    await assertRejects(
      () => media({ [UPLOAD]: answer }).api.uploadMedia(text("x")),
      ServiceResponseError,
      "content_uri",
    );
  }
});

Deno.test("uploadMedia() that makes progress is not too slow, however long it takes", async () => {
  const clock = new TestClock();
  const slow = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await clock.delay(50_000);
      controller.enqueue(text("x"));
    },
  }, { highWaterMark: 0 });
  const { api } = media({}, { clock });
  const upload = api.uploadMedia(slow, { size: 2, requestTimeout: 60_000 });
  const failed = assertRejects(() => upload, ValueError, "more");
  await clock.tick(150_000);
  await failed;
});

Deno.test("createMedia() and uploadMediaTo() make a place and fill it, again if the connection is lost", async () => {
  const place = "PUT /_matrix/media/v3/upload/example.org/pic";
  let tries = 0;
  const { api, requests, log, clock } = media({
    "POST /_matrix/media/v1/create": { content_uri: PIC, unused_expires_at: 9 },
    [place]: () => ++tries === 1 ? new TypeError("reset") : {},
  });
  const { content_uri, unused_expires_at } = await api.createMedia();
  assertEquals([content_uri, unused_expires_at], [PIC, 9]);
  const progress: number[] = [];
  await untilSettled(
    clock,
    api.uploadMediaTo(content_uri, text("abc"), { onProgress: (sent) => progress.push(sent) }),
  );
  assertEquals(log().slice(1), [place, place]);
  assertEquals(requests.slice(1).map(({ body }) => body), [text("abc"), text("abc")]);
  assertEquals(progress, [3, 3]);
});

Deno.test("An upload that met a soft logout is sent again, unless it is a stream: then only the token is renewed", async () => {
  for (const [data, uploads] of [[text("abc"), 2], [streamOf(text("abc")).stream, 1]] as const) {
    const { api, session, log } = media({
      [UPLOAD]: ({ headers }) =>
        headers.get("authorization") === "Bearer new"
          ? { content_uri: PIC }
          : refusal(401, "M_UNKNOWN_TOKEN", { soft_logout: true }),
      "POST /_matrix/client/v3/refresh": { access_token: "new" },
    }, { refreshToken: "r0" });
    const upload = api.uploadMedia(data, { size: 3 });
    if (uploads === 1) await assertRejects(() => upload, UnknownTokenError);
    else assertEquals(await upload, PIC);
    assertEquals([log().filter((line) => line === UPLOAD).length, session.http.accessToken], [
      uploads,
      "new",
    ]);
  }
});

Deno.test("uploadMediaTo() does not send a stream a second time", async () => {
  const { api, requests } = media({ "PUT /_matrix/media/v3/upload/example.org/pic": new TypeError("reset") });
  await assertRejects(() => api.uploadMediaTo(PIC, streamOf(text("abc")).stream, { size: 3 }), NetworkError);
  assertEquals(requests.length, 1);
});
