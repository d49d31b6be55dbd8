/**
 * Uploads and downloads as many bytes as its argument says, and prints by how many bytes the
 * process grew at most. A program of its own, for the memory of a test's process is everybody's;
 * and one that collects its garbage now and then, for it is about what is held, not about when the
 * engine cleans up.
 *
 * @module
 */

import { HTTPAPI, Session } from "../../src/api/http/mod.ts";
import { mediaAPI } from "../../src/api/media/media.ts";

const [baseUrl = "", bytes = "0"] = Deno.args;
const size = Number(bytes);
const api = mediaAPI(new Session(new HTTPAPI({ baseUrl, accessToken: "t" })));
const { gc } = globalThis as unknown as { gc: () => void }; // by --expose-gc
let peak = 0;
let steps = 0;

function measure(): void {
  if (++steps % 128 !== 0) return; // every 8 MiB of parts of 64 KiB
  gc();
  peak = Math.max(peak, Deno.memoryUsage().rss);
}

async function transfer(amount: number): Promise<void> {
  const part = new Uint8Array(1 << 16);
  let left = amount;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left === 0) return controller.close();
      const next = part.slice(0, left);
      left -= next.length;
      controller.enqueue(next);
    },
  });
  const url = await api.uploadMedia(source, { size: amount, onProgress: measure });
  const { stream } = await api.downloadMediaStream(url, { onProgress: measure });
  let received = 0;
  for await (const chunk of stream) received += chunk.length;
  if (received !== amount) throw new RangeError(`Cannot go on: ${received} of ${amount} bytes came back`);
}

await transfer(16 << 20); // so that what is loaded once does not count
const before = peak;
await transfer(size);
console.log(peak - before);
