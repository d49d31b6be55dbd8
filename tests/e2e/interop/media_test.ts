import { assert, assertEquals, assertRejects } from "@std/assert";
import { AttachmentError } from "@greenroom/matrix/errors";
import type { ContentURI, EncryptedFile } from "@greenroom/matrix/types";
import { png } from "../../operations/support/png.ts";
import type { PeerMessage } from "../support/peer/peer_event.ts";
import { type Scene, sceneTest } from "../support/scene.ts";
import { MEBIBYTE, type StreamReport } from "../support/stream_media.ts";
import { synapseTest } from "../support/synapse.ts";

const IMAGE = png(320, 240);
const THUMBNAIL = png(32, 24);
const NAME = "poster.png";
/** How large the stream is, in MiB. */
const LARGE = 500;

/** What a message says of the files it carries. */
function filesOf({ content }: PeerMessage): { file: EncryptedFile; thumbnail: EncryptedFile } {
  const { file, info } = content as { file: EncryptedFile; info: { thumbnail_file: EncryptedFile } };
  return { file, thumbnail: info.thumbnail_file };
}

/** The same file with one bit of what the server keeps of it turned round. */
async function tampered({ ours }: Scene, file: EncryptedFile): Promise<EncryptedFile> {
  const bytes = await ours.client.downloadMedia(file.url);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  return { ...file, url: await ours.client.uploadMedia(bytes) };
}

sceneTest("S53 Peers see our images and thumbnails, of which the server sees nothing", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room();
  const eventId = await ours.client.sendImage(roomId as `!${string}`, IMAGE, {
    fileName: NAME,
    info: { mimetype: "image/png", w: 320, h: 240 },
    thumbnail: { data: THUMBNAIL, info: { mimetype: "image/png", w: 32, h: 24 } },
  });
  for (const peer of peers) {
    const heard = await peer.message((message) => message.eventId === eventId);
    const { file, thumbnail } = filesOf(heard);
    assertEquals([heard.encrypted, heard.msgtype, heard.body], [true, "m.image", NAME]);
    assertEquals((await peer.download(file)).bytes, IMAGE);
    assertEquals((await peer.download(thumbnail)).bytes, THUMBNAIL);
    for (const { url } of [file, thumbnail]) await isHidden(scene, url);
    const error = await assertRejects(async () => await peer.download(await tampered(scene, file)));
    assert(error instanceof Error && !/status|the server said/.test(error.message), peer.kind);
  }
});

async function isHidden({ ours }: Scene, url: ContentURI): Promise<void> {
  const bytes = await ours.client.downloadMedia(url);
  assert(!String.fromCharCode(...bytes.subarray(0, 8)).includes("PNG"));
}

sceneTest("S53 We see images and thumbnails of peers, and refuse what was tampered with", async (scene) => {
  const { ours: { client }, ours, peers } = scene;
  const roomId = await scene.room();
  for (const peer of peers) {
    const eventId = await peer.sendImage(roomId, { bytes: IMAGE, thumbnail: THUMBNAIL, name: NAME });
    const heard = await ours.message((message) => message.eventId === eventId);
    const { file, thumbnail } = filesOf(heard);
    assertEquals([heard.encrypted, heard.msgtype, heard.body], [true, "m.image", NAME]);
    assertEquals(await client.downloadMedia(file), IMAGE);
    assertEquals(await client.downloadThumbnail(thumbnail, { width: 32, height: 24 }), THUMBNAIL);
    const { stream } = await client.downloadMediaStream(file);
    assertEquals(await new Response(stream).bytes(), IMAGE);

    const wrong = await tampered(scene, file);
    await assertRejects(() => client.downloadMedia(wrong), AttachmentError);
    const { stream: refused } = await client.downloadMediaStream(wrong);
    const reader = refused.getReader();
    await assertRejects(() => reader.read(), AttachmentError); // and nothing came before
    await assertRejects(() => client.downloadMedia({ ...file, url: thumbnail.url }), AttachmentError);
  }
});

synapseTest(`S53 ${LARGE} MiB go from one of us to another as a stream in little memory`, async (server) => {
  const script = new URL("../support/stream_attachment.ts", import.meta.url).pathname;
  const temporary = Deno.env.get("TMPDIR") ?? "/tmp";
  const { baseUrl, serverName, sharedSecret } = server;
  const env = {
    GREENROOM_SYNAPSE_URL: baseUrl,
    GREENROOM_SYNAPSE_NAME: serverName,
    GREENROOM_SYNAPSE_SECRET: sharedSecret,
  };
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--v8-flags=--expose-gc",
      "--allow-read",
      "--allow-env",
      `--allow-net=${new URL(baseUrl).host}`,
      `--allow-write=${temporary}`,
      script,
      String(LARGE),
    ],
    env,
  }).output();
  assert(success, new TextDecoder().decode(stderr));

  const report: StreamReport = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals([report.received, report.same], [LARGE * MEBIBYTE, true]);
  assert(report.growth < 64 * MEBIBYTE, `memory grew by ${Math.round(report.growth / MEBIBYTE)} MiB`);
});
