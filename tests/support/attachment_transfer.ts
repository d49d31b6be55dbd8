/**
 * Encrypts and decrypts a stream of as many bytes as its argument says, and prints by how many
 * bytes the process grew at most. A program of its own, for the memory of a test's process is
 * everybody's; and one that collects its garbage now and then, for it is about what is held, not
 * about when the engine cleans up.
 *
 * @module
 */

import { decryptAttachmentStream, encryptAttachment } from "../../src/crypto/attachments/attachments.ts";

const size = Number(Deno.args[0]);
const { gc } = globalThis as unknown as { gc: () => void }; // by --expose-gc
const PART = 1 << 16;
let peak = 0;
let steps = 0;

function measure(): void {
  if (++steps % 128 !== 0) return; // every 8 MiB of parts of 64 KiB
  gc();
  peak = Math.max(peak, Deno.memoryUsage().rss);
}

/** The same bytes each time, given part by part; measures as it gives. */
function source(amount: number): ReadableStream<Uint8Array> {
  let left = amount;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left === 0) return controller.close();
      const part = new Uint8Array(Math.min(PART, left)).fill(left / PART);
      left -= part.length;
      measure();
      controller.enqueue(part);
    },
  }, { highWaterMark: 0 });
}

async function transfer(amount: number): Promise<void> {
  const path = await Deno.makeTempFile();
  const attachment = encryptAttachment(source(amount));
  await attachment.stream.pipeTo((await Deno.create(path)).writable);
  const encrypted = await Deno.open(path);
  await Deno.remove(path);
  let left = amount;
  for await (const part of decryptAttachmentStream(encrypted.readable, attachment.secrets())) {
    measure();
    if (part[0] !== Math.floor(left / PART) % 256) {
      throw new RangeError("Cannot go on: it is not what it was");
    }
    left -= part.length;
  }
  if (left !== 0) throw new RangeError(`Cannot go on: ${left} of ${amount} bytes are missing`);
}

await transfer(16 << 20); // so that what is loaded once does not count
const before = peak;
await transfer(size);
console.log(peak - before);
