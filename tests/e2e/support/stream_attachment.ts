/**
 * Sends a large file into an encrypted room as a stream, and has another client of ours download it
 * as a stream, and prints how much memory that took. A program of its own, as `stream_media.ts` is.
 *
 * `deno run --v8-flags=--expose-gc … tests/e2e/support/stream_attachment.ts MEBIBYTES`, and the
 * server in the environment, as `synapse.ts` reads it
 *
 * @module
 */

import type { EncryptedFile, RoomID } from "@greenroom/matrix/types";
import { Ours } from "./ours.ts";
import { byteAt, contentOf, MEBIBYTE, type StreamReport } from "./stream_media.ts";

/** How many parts go or come between two looks at the memory. */
const SAMPLE_STEPS = 64;

/** The names under which the environment has the server. */
const SERVER = ["GREENROOM_SYNAPSE_URL", "GREENROOM_SYNAPSE_NAME", "GREENROOM_SYNAPSE_SECRET"];

/** Sends a file into a room, and returns where the other finds it. */
async function send(
  { one, other, roomId }: { one: Ours; other: Ours; roomId: RoomID },
  size: number,
  onProgress?: () => void,
): Promise<EncryptedFile> {
  const eventId = await one.client.sendFile(roomId, contentOf(size), { info: { size }, onProgress });
  const { content } = await other.message((message) => message.eventId === eventId);
  return content.file as EncryptedFile; // it fails at once if it is none
}

if (import.meta.main) {
  const [baseUrl = "", serverName = "", sharedSecret = ""] = SERVER.map((name) => Deno.env.get(name));
  const server = { baseUrl, serverName, sharedSecret };
  const size = Number(Deno.args[0]) * MEBIBYTE;
  await using one = await Ours.start(server, "one");
  await using other = await Ours.start(server, "other");
  const roomId = await one.createRoom({ invite: [other.userId] });
  await other.joinInvited(roomId);
  const players = { one, other, roomId };
  await other.client.downloadMedia(await send(players, MEBIBYTE)); // so that all code is loaded
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
  const file = await send(players, size, sample);
  const uploaded = performance.now();
  const options = { onProgress: sample, maxMemory: MEBIBYTE };
  const { stream } = await other.client.downloadMediaStream(file, options);
  let received = 0;
  let same = true;
  for await (const chunk of stream) {
    for (let offset = 0; offset < chunk.length; offset += 1 << 10) {
      same &&= chunk[offset] === byteAt(received + offset);
    }
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
