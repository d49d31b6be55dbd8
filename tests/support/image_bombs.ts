/**
 * Images that say little and take much. As a program, it describes all of them and some thousands that are
 * made at random, and prints how much memory that took.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { constants, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { ValueError } from "@greenroom/matrix";
import { describeImage } from "@greenroom/matrix/bot";
import { deflate, gif, jpg, png, pngHeader, pngOf, segment, word } from "../bot/media/images.ts";

/** The header of a frame of JPEG. */
function frame(w: number, h: number, components: number, { sampling = 0x11, kind = 0xc0 } = {}): Uint8Array {
  const each = Array.from({ length: components }, (_, at) => [at + 1, sampling, 0]);
  return segment(kind, [8, ...word(h), ...word(w), components, ...each.flat()]);
}

/** A JPEG whose parts are changed: its segments, and then its scan with its head. */
function changed(change: (segments: Uint8Array[], scan: Uint8Array) => Uint8Array[]): Uint8Array {
  const photo = jpg(16, 16);
  const segments: Uint8Array[] = [];
  let at = 2;
  for (; photo[at + 1] !== 0xda;) {
    const end = at + 2 + (photo[at + 2] ?? 0) * 256 + (photo[at + 3] ?? 0);
    segments.push(photo.subarray(at, end));
    at = end;
  }
  return concat([Uint8Array.of(0xff, 0xd8), ...change(segments, photo.subarray(at))]);
}

const isFrame = (part: Uint8Array) => part[1] === 0xc0;
const withFrame = (...frames: Uint8Array[]) =>
  changed((segments, scan) => [...segments.flatMap((part) => isFrame(part) ? frames : [part]), scan]);
/** A scan of nothing but runs of blocks without coefficients. */
const emptyScan = concat([segment(0xda, [1, 1, 0, 1, 63, 0x10]), new Uint8Array(8)]);

const END = ["IEND", new Uint8Array()] as const;

/** Gigabytes of zeros in a few megabytes: zlib's head, and one packed piece again and again. */
function packedZeros(): Uint8Array {
  const piece = new Uint8Array(
    deflateRawSync(new Uint8Array(1_000_000), { finishFlush: constants.Z_SYNC_FLUSH }),
  );
  return concat([Uint8Array.of(0x78, 0x9c), ...Array.from({ length: 2_000 }, () => piece)]);
}

/** Images of a million pixels or fewer by their heads, by what is wrong with them. */
export async function imageBombs(): Promise<Readonly<Record<string, Uint8Array>>> {
  const zeros = await deflate(new Uint8Array(8_000_000));
  const bare = (w: number, h: number, ...head: number[]) =>
    pngOf(["IHDR", concat([pngHeader(w, h).subarray(0, 8), Uint8Array.from(head)])], ["IDAT", zeros], END);
  return {
    "a JPEG with a second frame": withFrame(frame(16, 16, 3), frame(60_000, 260, 255)),
    "a JPEG of 255 components": withFrame(frame(1_000, 1_000, 255)),
    "a JPEG of blocks without end": withFrame(frame(60_000, 16, 4, { sampling: 0xff })),
    "a JPEG without data": withFrame(frame(1_000, 1_000, 3)),
    "a JPEG of empty scans": changed((segments, scan) => [
      ...segments.map((part) => isFrame(part) ? frame(1_000, 1_000, 3, { kind: 0xc2 }) : part),
      new Uint8Array(),
      ...Array.from({ length: 39 }, () => emptyScan),
      scan,
    ]),
    "a JPEG with a frame in a table": changed((segments, scan) => [
      ...segments,
      segment(0xc4, [0, ...Array(16).fill(255), ...frame(60_000, 260, 255)]),
      scan,
    ]),
    "a PNG with a second head": pngOf(
      ["IHDR", pngHeader(10, 10)],
      ["IHDR", pngHeader(20_000, 20_000)],
      ["IDAT", zeros],
      END,
    ),
    "a PNG of 1,020 bits a pixel": bare(1_000, 1_000, 255, 6, 0, 0, 0),
    "a PNG of too many rows": bare(10, 10, 8, 6, 0, 0, 0),
    "a PNG of gigabytes": pngOf(["IHDR", pngHeader(10, 10)], ["IDAT", packedZeros()], END),
    "a GIF without data": gif(1_000, 1_000).subarray(0, 35),
  };
}

/** The most memory that this process has had, in bytes. */
function peak(): number {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(Deno.readTextFileSync("/proc/self/status")) ?? [];
    return Number(kilobytes ?? 0) * 1_024;
  } catch {
    return Deno.memoryUsage().rss;
  }
}

async function describe(data: Uint8Array): Promise<void> {
  await describeImage(data, { maxPixels: 1_000_000 }).catch((error) => {
    if (!(error instanceof ValueError)) throw error;
  });
}

if (import.meta.main) {
  await describe(png(40, 40));
  const before = peak();
  const bombs = Object.values(await imageBombs());
  for (const bomb of bombs) await describe(bomb);
  const seeds = [...bombs.filter(({ length }) => length < 5_000), png(40, 40), jpg(40, 40), gif(40, 40, 2)];
  const place = fc.nat({ max: 1_000_000 });
  const change = fc.record({ at: place, to: fc.constantFrom(0, 1, 0xff, 0xc0, 0xc2, 0xda, 17, 255, 64) });
  const splice = fc.record({ from: place, length: fc.nat(200), to: place });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...seeds),
      fc.array(change, { maxLength: 4 }),
      fc.array(splice, { maxLength: 2 }),
      async (seed, changes, splices) => {
        let data = Uint8Array.from(seed);
        for (const { from, length, to } of splices) {
          const [start, end] = [from % data.length, to % data.length];
          data = concat([data.subarray(0, end), data.subarray(start, start + length), data.subarray(end)]);
        }
        for (const { at, to } of changes) data[at % data.length] = to;
        await describe(data);
      },
    ),
    { numRuns: Number(Deno.args[0] ?? 10_000), seed: 172 },
  );
  console.log(peak() - before);
}
