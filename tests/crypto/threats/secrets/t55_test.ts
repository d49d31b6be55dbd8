/**
 * Attachments that the server or a member has changed, and addresses that lead out of the media repository
 * (CVE-2024-50336).
 */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { mediaAPI } from "../../../../src/api/media/media.ts";
import { attachmentCipher } from "../../../../src/crypto/attachments/attachments.ts";
import { AttachmentError, ValueError } from "@greenroom/matrix/errors";
import type { ContentURI, EncryptedFile } from "@greenroom/matrix/types";
import { parseContentUri } from "../../../../src/types/identifiers.ts";
import { seal } from "../../../support/attachments.ts";
import { FILE, PIC, text, VERSIONS } from "../../../support/media.ts";
import { scripted } from "../../../support/scripted_fetch.ts";

const { bytes, secrets } = await seal(text("Meet me at the stage door at nine"));
const file: EncryptedFile = { ...secrets, url: PIC };

/** The media operations of a homeserver that gives these bytes for the file. */
function serving(content: Uint8Array<ArrayBuffer>) {
  const made = scripted({ [VERSIONS]: { versions: ["v1.11"] }, [FILE]: () => new Response(content) });
  return { ...made, api: mediaAPI(made.session, attachmentCipher) };
}

/** All that the operations hand out of a file until they fail. */
async function handedOut(content: Uint8Array<ArrayBuffer>, given: EncryptedFile): Promise<Uint8Array[]> {
  const { api } = serving(content);
  const parts: Uint8Array[] = [];
  for (const maxMemory of [0, undefined]) {
    await assertRejects(async () => {
      const { stream } = await api.downloadMediaStream(given, { maxMemory });
      for await (const part of stream) parts.push(part);
    }, AttachmentError);
  }
  await assertRejects(async () => parts.push(await api.downloadMedia(given)), AttachmentError);
  await assertRejects(async () => parts.push(await api.downloadThumbnail(given)), AttachmentError);
  return parts;
}

Deno.test("T55 the server changes an attachment: no byte of it is handed out", async () => {
  const other = await seal(text("Meet me at the stage door at five"));
  const changed = [
    bytes.with(20, (bytes[20] ?? 0) ^ 4), // in counter mode, this would change one letter
    bytes.slice(0, 16),
    new Uint8Array([...bytes, ...bytes]),
    new Uint8Array(),
    other.bytes,
  ];
  for (const content of changed) assertEquals(await handedOut(content, file), []);
  assertEquals(await serving(bytes).api.downloadMedia(file), text("Meet me at the stage door at nine"));
});

Deno.test("T55 a member leaves the hash out or sends another one: no byte is handed out", async () => {
  const other = await seal(text("Another file"));
  const hashes: unknown[] = [
    undefined,
    {},
    { sha256: "" },
    { md5: "AAAA" },
    { sha256: null },
    other.secrets.hashes,
  ];
  for (const given of hashes) {
    assertEquals(await handedOut(bytes, { ...file, hashes: given as EncryptedFile["hashes"] }), []);
  }
});

Deno.test("T55 a content URI that leads out of the media repository is refused without a request", async () => {
  const paths: unknown[] = [
    "mxc://example.org/../../../client/v3/logout",
    "mxc://example.org/..%2f..%2flogout",
    "mxc://example.org/..",
    "mxc://../../x",
    "mxc://../pic",
    "mxc://./pic",
    "mxc://example.org/a/b",
    "mxc://example.org/pic?access_token=x",
    "mxc://example.org/pic#x",
    "mxc://example.org\\@evil.example/pic",
    "mxc://user@example.org/pic",
    "https://evil.example/pic",
    "file:///etc/passwd",
    "",
    undefined,
    null,
    [PIC],
    { toString: PIC },
  ];
  const { api, requests } = serving(bytes);
  for (const url of paths) {
    const given = { ...file, url: url as EncryptedFile["url"] };
    await assertRejects(() => api.downloadMedia(given), ValueError);
    await assertRejects(() => api.downloadMediaStream(given), ValueError);
    await assertRejects(() => api.downloadThumbnail(given), ValueError);
    if (typeof url !== "string") continue;
    const bare = url as ContentURI;
    assertThrows(() => parseContentUri(bare), ValueError);
    await assertRejects(() => api.downloadMedia(bare), ValueError);
    await assertRejects(() => api.downloadMediaStream(bare), ValueError);
    await assertRejects(() => api.downloadThumbnail(bare), ValueError);
    await assertRejects(() => api.uploadMediaTo(bare, bytes), ValueError);
  }
  assertEquals(requests, []);
});

Deno.test("T55 an invalid key or counter is refused without a request", async () => {
  const { api, requests } = serving(bytes);
  for (const wrong of [{ v: "v1" }, { key: { ...file.key, k: "AAAA" } }, { iv: "AAAA" }]) {
    await assertRejects(() => api.downloadMedia({ ...file, ...wrong }), AttachmentError);
    await assertRejects(() => api.downloadMediaStream({ ...file, ...wrong }), AttachmentError);
  }
  assertEquals(requests, []);
});

Deno.test("T55 the server sends far more than may come: it is given up at the bound", async () => {
  let given = 0;
  const endless = () =>
    new Response(
      new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull: (controller) =>
          given === 64 ? controller.close() : controller.enqueue(new Uint8Array(1 << 16).fill(++given)),
      }, { highWaterMark: 0 }),
    );
  const { session, clock, requests } = scripted({ [VERSIONS]: { versions: ["v1.11"] }, [FILE]: endless });
  const api = mediaAPI(session, attachmentCipher);
  const { stream } = await api.downloadMediaStream(file, { maxSize: 1 << 20, maxMemory: 1 << 18 });
  const error = await assertRejects(() => stream.getReader().read(), AttachmentError);
  await clock.tick();
  assertEquals([error.problem, requests.at(-1)?.signal.aborted, clock.pending], ["size", true, 0]);
  assert(given <= 24);
});
