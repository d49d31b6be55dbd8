import { assert, assertEquals, assertRejects } from "@std/assert";
import { ForbiddenError, MatrixRequestError, NotFoundError, ValueError } from "@greenroom/matrix";
import { CannotOverwriteMediaError, NotYetUploadedError } from "@greenroom/matrix/errors";
import type { ContentURI } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { png } from "./support/png.ts";
import { refused } from "./support/wait.ts";

const TEXT = new TextEncoder().encode("All the world's a stage ü 🎭\0\r\n");

/** The content repository. */
export const media: readonly Operation[] = [
  {
    name: "uploadMedia() takes bytes, a blob and a stream, and downloadMedia() gives the same back",
    covers: ["uploadMedia", "downloadMedia"],
    breaks: ["sends no token"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const url = await alice.uploadMedia(TEXT, { mimeType: "text/plain", filename: "a b/ü.txt" });
      assert(url.startsWith(`mxc://${scene.host.serverName}/`));
      assertEquals(await bob.downloadMedia(url), TEXT);
      const blob = await alice.uploadMedia(new Blob([TEXT, TEXT], { type: "text/plain" }));
      assertEquals((await bob.downloadMedia(blob)).length, 2 * TEXT.length);
      const stream = ReadableStream.from([TEXT, TEXT, TEXT]);
      const streamed = await alice.uploadMedia(stream, { mimeType: "text/plain", size: 3 * TEXT.length });
      assertEquals((await bob.downloadMedia(streamed)).length, 3 * TEXT.length);
      const nothing = await alice.uploadMedia(new Uint8Array());
      assertEquals((await bob.downloadMedia(nothing)).length, 0);
      const stranger = scene.client();
      await refused(() => stranger.downloadMedia(url), MatrixRequestError, 401);
      await refused(() => stranger.uploadMedia(TEXT), MatrixRequestError, 401);
    },
  },
  {
    name: "downloadMediaStream() says what it brings before it does",
    covers: ["uploadMedia", "downloadMediaStream"],
    async run(scene) {
      const alice = await scene.player("alice");
      const bytes = crypto.getRandomValues(new Uint8Array(60_000));
      const seen: (number | undefined)[][] = [];
      const url = await alice.uploadMedia(bytes, {
        mimeType: "image/png",
        filename: "Ünder.png",
        onProgress: (transferred, total) => seen.push([transferred, total]),
      });
      assertEquals(seen.at(-1), [60_000, 60_000]);
      const { stream, contentType, filename, size } = await alice.downloadMediaStream(url);
      assertEquals([contentType, filename, size], ["image/png", "Ünder.png", 60_000]);
      assertEquals(new Uint8Array(await new Response(stream).arrayBuffer()), bytes);
    },
  },
  {
    name: "downloadMedia() reports what is not there or not to be had",
    covers: ["downloadMedia"],
    async run(scene) {
      const alice = await scene.player("alice");
      const { serverName } = scene.host;
      await refused(() => alice.downloadMedia(`mxc://${serverName}/nothing`), NotFoundError, 404);
      await assertRejects(() => alice.downloadMedia("https://example.org/x" as ContentURI), ValueError);
      const url = await alice.uploadMedia(TEXT);
      await assertRejects(() => alice.downloadMedia(url, { maxSize: 5 }));
    },
  },
  {
    name: "createMedia() reserves a URI, which uploadMediaTo() fills, once",
    covers: ["createMedia", "uploadMediaTo"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const { content_uri, unused_expires_at } = await alice.createMedia();
      assert((unused_expires_at ?? 0) > Date.now());
      await refused(
        () => bob.downloadMedia(content_uri, { timeout: 0, retry: false }),
        NotYetUploadedError,
        504,
      );
      await refused(() => bob.uploadMediaTo(content_uri, TEXT), ForbiddenError, 403);
      await alice.uploadMediaTo(content_uri, TEXT, { mimeType: "text/plain" });
      assertEquals(await bob.downloadMedia(content_uri), TEXT);
      await refused(() => alice.uploadMediaTo(content_uri, TEXT), CannotOverwriteMediaError, 409);
    },
  },
  {
    name: "downloadThumbnail() gives an image of about the size that was asked for",
    covers: ["downloadThumbnail"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const url = await alice.uploadMedia(png(640, 480), { mimeType: "image/png" });
      const thumbnail = await bob.downloadThumbnail(url, { width: 64, height: 64, resizeMethod: "crop" });
      assertEquals([...thumbnail.subarray(1, 4)], [0x50, 0x4e, 0x47], "a PNG");
      const scaled = await bob.downloadThumbnail(url, { width: 320, height: 240, allowRemote: false });
      assert(scaled.length > 0);
      await refused(
        () => bob.downloadThumbnail(`mxc://${scene.host.serverName}/nothing`, { width: 32, height: 32 }),
        NotFoundError,
        404,
      );
      await assertRejects(() => bob.downloadThumbnail(url, { width: 0, height: 32 }), ValueError);
    },
  },
  {
    name: "getMediaRepoConfig() says how large an upload may be",
    covers: ["getMediaRepoConfig"],
    async run(scene) {
      const alice = await scene.player("alice");
      assert(((await alice.getMediaRepoConfig())["m.upload.size"] ?? 0) >= 1_048_576);
    },
  },
  {
    name: "getUrlPreview() returns a page's description of itself",
    covers: ["getUrlPreview"],
    async run(scene) {
      const alice = await scene.player("alice");
      const page = '<html><head><meta property="og:title" content="Tonight: Hamlet">' +
        '<meta property="og:description" content="With an interval"></head><body>Doors at seven</body></html>';
      const handler = () => new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } });
      await using site = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, handler);
      const preview = await alice.getUrlPreview(`http://127.0.0.1:${site.addr.port}/tonight`, {
        timestamp: Date.now(),
      });
      assertEquals([preview["og:title"], preview["og:description"]], ["Tonight: Hamlet", "With an interval"]);
    },
  },
];
