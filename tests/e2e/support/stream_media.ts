/**
 * Uploads and downloads a large file as streams, and prints how much memory that took. A program of
 * its own, so that nothing else is in its memory. With `--expose-gc` it is about what is held;
 * without, V8 lets some 64 MiB of parts that are done with lie about before it cleans up.
 *
 * `deno run --v8-flags=--expose-gc --allow-net=HOST tests/e2e/support/stream_media.ts URL TOKEN MEBIBYTES`
 *
 * @module
 */

import { Client } from "@greenroom/matrix";

export const MEBIBYTE = 2 ** 20;
/** How many parts go or come between two looks at the memory. */
const SAMPLE_STEPS = 64;

/** What it prints, as JSON. */
export interface StreamReport {
  /** How many bytes came back. */
  readonly received: number;
  /** Whether they were those that went. */
  readonly same: boolean;
  /** How far memory grew over what it was before, in bytes. */
  readonly growth: number;
  /** How long the upload took, in milliseconds. */
  readonly uploadMs: number;
  /** How long the download took, in milliseconds. */
  readonly downloadMs: number;
}

/** The byte at an offset: cheap, and different from block to block. */
export function byteAt(offset: number): number {
  return (offset >> 16) & 0xff;
}

export function contentOf(size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      const part = new Uint8Array(Math.min(1 << 16, size - offset)).fill(byteAt(offset));
      offset += part.length;
      controller.enqueue(part);
      if (offset === size) controller.close();
    },
  }, { highWaterMark: 0 });
}

if (import.meta.main) {
  const [baseUrl, token, mebibytes] = Deno.args;
  const size = Number(mebibytes) * MEBIBYTE;
  await using client = new Client({ baseUrl, accessToken: token });
  // So that all code is loaded.
  await client.downloadMedia(await client.uploadMedia(new Uint8Array(MEBIBYTE)));
  const { gc } = globalThis as { gc?: () => void };
  const before = Deno.memoryUsage().rss;
  let most = before;
  let steps = 0;
  const sample = (): void => {
    if (++steps % SAMPLE_STEPS !== 0) return;
    gc?.();
    most = Math.max(most, Deno.memoryUsage().rss);
  };
  const begun = performance.now();
  const url = await client.uploadMedia(contentOf(size), { size, onProgress: sample });
  const uploaded = performance.now();
  const { stream } = await client.downloadMediaStream(url);
  let received = 0;
  let same = true;
  for await (const chunk of stream) {
    same &&= chunk[0] === byteAt(received) && chunk.at(-1) === byteAt(received + chunk.length - 1);
    received += chunk.length;
    sample();
  }
  const report: StreamReport = {
    received,
    same,
    growth: most - before,
    uploadMs: Math.round(uploaded - begun),
    downloadMs: Math.round(performance.now() - uploaded),
  };
  console.log(JSON.stringify(report));
}
