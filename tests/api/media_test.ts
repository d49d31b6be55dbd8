import { assert, assertEquals, assertRejects } from "@std/assert";
import { HTTPAPI } from "../../src/api/http_api.ts";
import { mediaAPI } from "../../src/api/media.ts";
import { filenameIn } from "../../src/api/media_file.ts";
import { Session } from "../../src/api/session.ts";
import type { MediaData } from "../../src/api/upload_body.ts";
import { NetworkError, RequestTimeoutError } from "../../src/errors/network_error.ts";
import { NotFoundError, TooLargeError } from "../../src/errors/errcodes.ts";
import { ServiceResponseError } from "../../src/errors/service_response_error.ts";
import { ValueError } from "../../src/errors/value_error.ts";
import { TestClock } from "../../src/testing/test_clock.ts";
import type { ContentURI } from "../../src/types/ids.ts";
import {
  refusal,
  type Rule,
  scripted,
  type ScriptedOptions,
  untilSettled,
} from "../support/scripted_fetch.ts";

const VERSIONS = "GET /_matrix/client/versions";
const UPLOAD = "POST /_matrix/media/v3/upload";
const FILE = "GET /_matrix/client/v1/media/download/example.org/pic";
const PIC: ContentURI = "mxc://example.org/pic";
const text = (value: string) => new TextEncoder().encode(value);

function media(rules: Record<string, Rule> = {}, options: ScriptedOptions = {}) {
  const made = scripted(
    { [VERSIONS]: { versions: ["v1.11"] }, [UPLOAD]: { content_uri: PIC }, ...rules },
    options,
  );
  return { ...made, api: mediaAPI(made.session) };
}

/** A stream of parts that notes whether it was let go. */
function streamOf(...parts: unknown[]) {
  const state = { cancelled: false };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift();
      if (part === undefined) controller.close();
      else if (part instanceof Error) controller.error(part);
      else controller.enqueue(part as Uint8Array);
    },
    cancel() {
      state.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { stream, state };
}

Deno.test("uploadMedia() takes bytes, buffers, blobs, files and streams, each with its type and name", async () => {
  const bytes = text("curtain");
  const file = new File([bytes], "a ü.txt", { type: "text/plain" });
  const cases: [MediaData, object, string, string][] = [
    [bytes, {}, "application/octet-stream", ""],
    [bytes.buffer, { mimeType: "image/png", filename: "x.png" }, "image/png", "filename=x.png"],
    [text("a curtain!").subarray(2, 9), {}, "application/octet-stream", ""],
    [new Blob([bytes], { type: "text/css" }), {}, "text/css", ""],
    [file, {}, "text/plain", "filename=a+%C3%BC.txt"],
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
  const http = new HTTPAPI({ baseUrl: `http://127.0.0.1:${server.addr.port}`, token: "t" });
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

Deno.test("uploadMedia() fails with a ValueError if a stream has another size than was said, and lets it go", async () => {
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
  await assertRejects(() => tooLarge.api.uploadMedia(stream), ValueError, "option size");
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

Deno.test("uploadMedia() lets the stream go if the request fails before it is read, or in the middle", async () => {
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

Deno.test("uploadMediaTo() does not send a stream a second time", async () => {
  const { api, requests } = media({ "PUT /_matrix/media/v3/upload/example.org/pic": new TypeError("reset") });
  await assertRejects(() => api.uploadMediaTo(PIC, streamOf(text("abc")).stream, { size: 3 }), NetworkError);
  assertEquals(requests.length, 1);
});

Deno.test("downloadMedia() gives the bytes, and tells of progress", async () => {
  const progress: unknown[] = [];
  const { api, log } = media({
    [FILE]: () => new Response("curtain", { headers: { "content-length": "7" } }),
  });
  const bytes = await api.downloadMedia(PIC, {
    timeout: 5_000,
    onProgress: (...step) => progress.push(step),
  });
  assertEquals([bytes, progress.at(-1)], [text("curtain"), [7, 7]]);
  assertEquals(log(), [VERSIONS, `${FILE}?timeout_ms=5000`]);
  await assertRejects(
    () => media({ [FILE]: refusal(404, "M_NOT_FOUND") }).api.downloadMedia(PIC),
    NotFoundError,
  );
});

Deno.test("downloadMedia() takes no more than maxSize, and no more than the client's maxResponseSize without one", async () => {
  const file = () => new Response("curtain");
  await assertRejects(
    () => media({ [FILE]: file }).api.downloadMedia(PIC, { maxSize: 6 }),
    ServiceResponseError,
  );
  await assertRejects(
    () => media({ [FILE]: file }, { maxResponseSize: 30 }).api.downloadMedia(PIC, { maxSize: 6 }),
    ServiceResponseError,
  );
  await assertRejects(
    () =>
      media({ [FILE]: () => new Response("curtain".repeat(9)) }, { maxResponseSize: 62 }).api.downloadMedia(
        PIC,
      ),
    ServiceResponseError,
  );
  assertEquals(await media({ [FILE]: file }).api.downloadMedia(PIC, { maxSize: 7 }), text("curtain"));
});

Deno.test("Media that broke off is asked for again", async () => {
  let tries = 0;
  const { api, clock } = media({
    [FILE]: () =>
      ++tries === 1 ? new Response("cur", { headers: { "content-length": "7" } }) : new Response("curtain"),
  });
  assertEquals(await untilSettled(clock, api.downloadMedia(PIC)), text("curtain"));
});

Deno.test("Media is private where any version from 1.11 on, or the experiment before it, is supported", async () => {
  const old = FILE.replace("client/v1/media", "media/v3");
  const cases: [object, string][] = [
    [{ versions: ["v1.11"] }, FILE],
    [{ versions: ["v1.12"] }, FILE],
    [{ versions: ["r0.6.1", "v1.2", "v2.0"] }, FILE],
    [{ versions: ["v1.10"], unstable_features: { "org.matrix.msc3916.stable": true } }, FILE],
    [{ versions: ["v1.10"], unstable_features: { "org.matrix.msc3916.stable": false } }, old],
    [{ versions: ["r0.6.1", "v1.1"] }, old],
  ];
  for (const [versions, expected] of cases) {
    const file = () => new Response("x");
    const { api, log, requests } = media({ [VERSIONS]: versions, [FILE]: file, [old]: file });
    await api.downloadMedia(PIC);
    assertEquals(log(), [VERSIONS, expected]);
    assertEquals(requests[1]?.headers.has("authorization"), expected === FILE);
  }
});

Deno.test("downloadMediaStream() hands out the stream, and what the server says of it", async () => {
  const headers = {
    "content-type": "image/png",
    "content-length": "7",
    "content-disposition": 'inline; filename="a.png"',
  };
  const { api, clock } = media({ [FILE]: () => new Response("curtain", { headers }) });
  const progress: unknown[] = [];
  const { stream, ...rest } = await api.downloadMediaStream(PIC, {
    onProgress: (...step) => progress.push(step),
  });
  assertEquals(rest, { contentType: "image/png", filename: "a.png", size: 7 });
  assertEquals([await new Response(stream).text(), progress.at(-1), clock.pending], ["curtain", [7, 7], 0]);
  const bare = media({ [FILE]: () => new Response(streamOf(text("x")).stream) });
  const { stream: other, ...unknown } = await bare.api.downloadMediaStream(PIC);
  assertEquals(unknown, { contentType: "application/octet-stream", filename: undefined, size: undefined });
  await other.cancel();
});

Deno.test("A download stream ends its request when it is cancelled, read or not", async () => {
  for (const read of [0, 1]) {
    const { api, requests, clock } = media({
      [FILE]: () => new Response(streamOf(text("a"), text("b")).stream),
    });
    const { stream } = await api.downloadMediaStream(PIC);
    const reader = stream.getReader();
    for (let part = 0; part < read; part++) await reader.read();
    assertEquals([requests[1]?.signal.aborted, clock.pending], [false, 1]);
    await reader.cancel();
    await clock.tick();
    assertEquals([requests[1]?.signal.aborted, clock.pending], [true, 0]);
  }
});

Deno.test("A download stream fails if the content breaks off, stops coming, or the signal aborts", async () => {
  const short = media({ [FILE]: () => new Response("cur", { headers: { "content-length": "7" } }) });
  const broken = await short.api.downloadMediaStream(PIC);
  await assertRejects(() => new Response(broken.stream).text(), NetworkError, "3 of 7");
  const hanging: Rule = ({ signal }) =>
    new Response(
      new ReadableStream({
        start: (controller) => signal.addEventListener("abort", () => controller.error(signal.reason)),
      }),
    );
  const stalled = media({ [FILE]: hanging });
  const { stream } = await stalled.api.downloadMediaStream(PIC, { requestTimeout: 5_000 });
  await stalled.clock.tick(60_000); // nobody reads: this does not count
  const failed = assertRejects(() => new Response(stream).text(), RequestTimeoutError);
  await stalled.clock.tick(10_000);
  await failed;
  const aborted = media({ [FILE]: hanging });
  const controller = new AbortController();
  const download = await aborted.api.downloadMediaStream(PIC, { signal: controller.signal });
  const ended = assertRejects(() => new Response(download.stream).text(), RangeError, "enough");
  controller.abort(new RangeError("enough"));
  await ended;
  assertEquals([stalled.clock.pending, aborted.clock.pending], [0, 0]);
});

Deno.test("filenameIn() takes the name of a file, never a path, and the extended form first", () => {
  const cases: [string, string | undefined][] = [
    ["", undefined],
    ["attachment", undefined],
    ["attachment; filename=a.txt", "a.txt"],
    ['inline; filename="a b;c.txt"', "a b;c.txt"],
    ['inline; filename="say \\"hi\\".txt"', 'say "hi".txt'],
    ["inline; filename*=UTF-8''%e2%82%ac.txt; filename=\"euro.txt\"", "€.txt"],
    ["inline; filename*=utf-8''%ff; filename=fallback", "fallback"],
    ['inline; filename="../../etc/passwd"', "passwd"],
    ['inline; filename="C:\\\\temp\\\\x.exe"', "x.exe"],
    ["inline; filename*=UTF-8''..%2F..%2Fx", "x"],
    ['inline; filename=".."', undefined],
    ["inline; filename*=UTF-8''a%00%0ab", "ab"],
    ['inline; filename="dir/"', undefined],
  ];
  for (const [header, name] of cases) assertEquals(filenameIn(header), name, header);
});

Deno.test("downloadThumbnail() always says a size: 96 by 96 cropped if nobody does, a square if one side is missing", async () => {
  const THUMBNAIL = FILE.replace("download", "thumbnail");
  const cases: [object, string][] = [
    [{}, "width=96&height=96&method=crop"],
    [{ width: 320 }, "width=320&height=320"],
    [{ height: 240 }, "width=240&height=240"],
    [
      { width: 320, height: 240, resizeMethod: "scale", animated: false },
      "width=320&height=240&method=scale&animated=false",
    ],
    [{ resizeMethod: "scale" }, "width=96&height=96&method=scale"],
    [{ allowRemote: false }, "width=96&height=96&method=crop"],
  ];
  for (const [options, query] of cases) {
    const { api, log } = media({ [THUMBNAIL]: () => new Response("x") });
    assertEquals(await api.downloadThumbnail(PIC, options), text("x"));
    assertEquals(log()[1], `${THUMBNAIL}?${query}`);
  }
});

Deno.test("downloadThumbnail() says allow_remote to old servers only, and only if it is false", async () => {
  const THUMBNAIL = "GET /_matrix/media/v3/thumbnail/example.org/pic";
  for (const [allowRemote, suffix] of [[true, ""], [false, "&allow_remote=false"]] as const) {
    const { api, log } = media({ [VERSIONS]: { versions: ["v1.10"] }, [THUMBNAIL]: () => new Response("x") });
    await api.downloadThumbnail(PIC, { allowRemote });
    assertEquals(log()[1], `${THUMBNAIL}?width=96&height=96&method=crop${suffix}`);
  }
});

Deno.test("getMediaRepoConfig() and getUrlPreview() ask the server's repository, old or new, with the token", async () => {
  for (const [versions, root] of [["v1.11", "client/v1/media"], ["v1.1", "media/v3"]] as const) {
    const { api, log, requests } = media({
      [VERSIONS]: { versions: [versions] },
      [`GET /_matrix/${root}/config`]: {},
      [`GET /_matrix/${root}/preview_url`]: { "og:title": "Stage", "og:image:width": 48 },
    });
    assertEquals(await api.getMediaRepoConfig(), {});
    assertEquals(
      (await api.getUrlPreview("https://example.org/?a=b&c", { timestamp: 17 }))["og:image:width"],
      48,
    );
    assertEquals(log(), [
      VERSIONS,
      `GET /_matrix/${root}/config`,
      `GET /_matrix/${root}/preview_url?url=https%3A%2F%2Fexample.org%2F%3Fa%3Db%26c&ts=17`,
    ]);
    assert(requests.every(({ headers }) => headers.get("authorization") === "Bearer secret"));
  }
});

Deno.test("Media operations refuse what is no content URI, and impossible sizes, and send nothing", async () => {
  const bad = [
    "",
    "https://example.org/pic",
    "mxc://example.org",
    "mxc://example.org/",
    "mxc:///pic",
    "mxc://example.org/a/b",
    "mxc://example.org/..",
    "mxc://example.org/%2e%2e",
    "mxc://../pic",
    "mxc://./pic",
    "mxc://exa mple.org/pic",
    "mxc://example.org/pic?x=1",
    "mxc://example.org/pic#auto",
    "mxc://user@example.org/pic",
    "mxc://example.org:port/pic",
    "mxc://example.org/pic\n",
    "mxc://example.org/ü",
  ] as ContentURI[];
  const { api, requests } = media();
  for (const url of bad) {
    await assertRejects(() => api.downloadMedia(url), ValueError);
    await assertRejects(() => api.downloadMediaStream(url), ValueError);
    await assertRejects(() => api.downloadThumbnail(url), ValueError);
    await assertRejects(() => api.uploadMediaTo(url, text("x")), ValueError);
  }
  for (const options of [{ width: 0 }, { height: -1 }, { width: 1.5 }, { timeout: -1 }]) {
    await assertRejects(() => api.downloadThumbnail(PIC, options), ValueError);
  }
  await assertRejects(() => api.getUrlPreview("https://example.org", { timestamp: 0.5 }), ValueError);
  assertEquals(requests, []);
});
