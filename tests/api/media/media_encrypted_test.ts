import { assert, assertEquals, assertRejects } from "@std/assert";
import { mediaAPI } from "../../../src/api/media/media.ts";
import { attachmentCipher } from "../../../src/crypto/attachments/attachments.ts";
import { DecryptionError, NotFoundError, ServiceResponseError, ValueError } from "@greenroom/matrix/errors";
import type { EncryptedFile } from "@greenroom/matrix/types";
import { bytesOf, pattern, seal } from "../../support/attachments.ts";
import { FILE, media, PIC, text, VERSIONS } from "../../support/media.ts";
import { refusal, type Rule, scripted } from "../../support/scripted_fetch.ts";

const plain = pattern(300_000);
const { bytes, secrets } = await seal(plain);
const file: EncryptedFile = { ...secrets, url: PIC };
const headers = { "content-length": "300000", "content-type": "application/octet-stream" };

function decrypting(rule: Rule = () => new Response(bytes, { headers })) {
  const made = scripted({ [VERSIONS]: { versions: ["v1.11"] }, [FILE]: rule });
  return { ...made, api: mediaAPI(made.session, attachmentCipher) };
}

Deno.test("downloadMedia() decrypts an encrypted file, and leaves what is at a content URI as it is", async () => {
  const { api, log } = decrypting();
  const progress: unknown[] = [];
  const options = { timeout: 500, onProgress: (...step: unknown[]) => progress.push(step) };
  assertEquals(await api.downloadMedia(file, options), plain);
  assertEquals(log(), [VERSIONS, `${FILE}?timeout_ms=500`]);
  assertEquals(progress.at(-1), [300_000, 300_000]);
  assertEquals(await api.downloadMedia(PIC), bytes);
  await assertRejects(() => api.downloadMedia(file, { maxSize: 299_999 }), ServiceResponseError);
});

Deno.test("downloadMediaStream() decrypts an encrypted file, wherever it is held, and reports progress", async () => {
  for (const maxMemory of [0, 300_000, undefined]) {
    const { api, clock } = decrypting();
    const progress: unknown[] = [];
    const { stream, ...rest } = await api.downloadMediaStream(file, {
      maxMemory,
      onProgress: (...step) => progress.push(step),
    });
    assertEquals(rest, { contentType: "application/octet-stream", filename: undefined, size: 300_000 });
    assertEquals(progress, []);
    assertEquals(await bytesOf(stream), plain);
    assertEquals([progress.at(-1), clock.pending], [[300_000, 300_000], 0]);
  }
});

Deno.test("An encrypted stream ends its request when it is cancelled", async () => {
  const { api, requests, clock } = decrypting();
  const { stream } = await api.downloadMediaStream(file);
  await stream.cancel();
  await clock.tick();
  assertEquals([requests[1]?.signal.aborted, clock.pending], [true, 0]);
});

Deno.test("downloadThumbnail() gets an encrypted thumbnail as it is: the server has no other", async () => {
  const { api, log } = decrypting();
  assertEquals(await api.downloadThumbnail(file, { width: 20, height: 20 }), plain);
  assertEquals(log(), [VERSIONS, FILE]);
  await assertRejects(() => api.downloadThumbnail(file, { width: 0 }), ValueError);
});

Deno.test("A server's refusal of an encrypted file is an error like that of any other file", async () => {
  const { api } = decrypting(refusal(404, "M_NOT_FOUND"));
  await assertRejects(() => api.downloadMedia(file), NotFoundError);
  await assertRejects(() => api.downloadMediaStream(file), NotFoundError);
});

Deno.test("Without a cipher an encrypted file is refused without a request", async () => {
  const { api, requests } = media();
  await assertRejects(() => api.downloadMedia(file), DecryptionError, "hand in a cipher");
  await assertRejects(() => api.downloadMediaStream(file), DecryptionError);
  await assertRejects(() => api.downloadThumbnail(file), DecryptionError);
  assertEquals(requests, []);
});

Deno.test("downloadMediaStream() takes no more than maxSize of what is not encrypted, and else has no limit", async () => {
  const { api, requests, clock } = decrypting(() => new Response(text("curtain")));
  assertEquals(await bytesOf((await api.downloadMediaStream(PIC, { maxSize: 7 })).stream), text("curtain"));
  const { stream } = await api.downloadMediaStream(PIC, { maxSize: 6 });
  await assertRejects(() => bytesOf(stream), ServiceResponseError, "6 bytes");
  await clock.tick();
  assert(requests.at(-1)?.signal.aborted);
  for (const bad of [{ maxSize: -1 }, { maxMemory: 0.5 }]) {
    await assertRejects(() => api.downloadMediaStream(PIC, bad), ValueError);
  }
});
