import { assert, assertEquals, assertRejects } from "@std/assert";
import { filenameIn } from "../../../src/api/media/media_download.ts";
import {
  NetworkError,
  NotFoundError,
  NotYetUploadedError,
  RequestTimeoutError,
  ServiceResponseError,
  ValueError,
} from "@greenroom/matrix/errors";
import type { ContentURI } from "@greenroom/matrix/types";
import { FILE, media, PIC, streamOf, text, VERSIONS } from "../../support/media.ts";
import { refusal, type Rule, untilSettled } from "../../support/scripted_fetch.ts";

Deno.test("downloadMedia() returns the bytes, and reports progress", async () => {
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

Deno.test("Media that is not there yet is not asked for again: the server has waited for it", async () => {
  const { api, requests } = media({ [FILE]: refusal(504, "M_NOT_YET_UPLOADED") });
  await assertRejects(() => api.downloadMedia(PIC, { timeout: 100 }), NotYetUploadedError);
  assertEquals(requests.length, 2);
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
  await stalled.clock.tick(60_000); // without a reader, this does not count
  assert(!stalled.requests[1]?.signal.aborted);
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
    ["inline; filename*=UTF-8''invoice%E2%80%AEfdp.exe", "invoicefdp.exe"],
    ["inline; filename*=UTF-8''%C2%85a%E2%80%A8b%F3%A0%81%81%E2%81%A6c%E2%80%8B.txt", "abc.txt"],
    ["inline; filename*=UTF-8''%E2%80%AE..", undefined],
    [`inline; filename="${"a".repeat(300)}.txt"`, `${"a".repeat(251)}.txt`],
    [`inline; filename*=UTF-8''${encodeURIComponent("😀".repeat(70))}.txt`, `${"😀".repeat(62)}.txt`],
    [`inline; filename="${"a.".repeat(60_000)}"`, "a.".repeat(127) + "a"],
  ];
  for (const [header, name] of cases) assertEquals(filenameIn(header), name, header);
});

Deno.test("downloadThumbnail() always sends a size: 96 by 96 cropped by default, a square if one side is missing", async () => {
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
