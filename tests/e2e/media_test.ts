import { assert, assertEquals } from "@std/assert";
import { png } from "../operations/support/png.ts";
import { roomOf, Scene } from "../operations/support/scene.ts";
import { syncUntil } from "../operations/support/wait.ts";
import { synapseHost } from "./support/host.ts";
import type { StreamReport } from "./support/stream_media.ts";
import { newUser, synapseTest } from "./support/synapse.ts";

const MEBIBYTE = 2 ** 20;

synapseTest(
  "An image is uploaded, sent, received, and shown as a thumbnail that Synapse made",
  async (server) => {
    await using scene = new Scene(synapseHost(server));
    const [alice, bob] = await scene.players("alice", "bob");
    const roomId = await roomOf(alice, bob);
    const image = png(800, 600);
    const url = await alice.uploadMedia(image, { mimeType: "image/png", filename: "poster.png" });
    const info = { mimetype: "image/png", w: 800, h: 600, size: image.length };
    await alice.sendImage(roomId, url, { fileName: "poster.png", info });
    const { value: event } = await syncUntil(
      bob,
      ({ rooms }) =>
        rooms?.join?.[roomId]?.timeline?.events.find(({ content }) => content.msgtype === "m.image"),
    );
    assertEquals(event.content.url, url);
    assertEquals(await bob.downloadMedia(url), image);
    const thumbnail = await bob.downloadThumbnail(url, { width: 96, height: 96, resizeMethod: "crop" });
    const size = new DataView(thumbnail.buffer, thumbnail.byteOffset + 16);
    assertEquals([size.getUint32(0), size.getUint32(4)], [96, 96]);
    assert(thumbnail.length < image.length);
  },
);

synapseTest("100 MiB are uploaded and downloaded as streams in little memory", async (server) => {
  const { accessToken } = await newUser(server, "alice");
  const script = new URL("support/stream_media.ts", import.meta.url).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--v8-flags=--expose-gc",
      `--allow-net=${new URL(server.baseUrl).host}`,
      script,
      server.baseUrl,
      accessToken,
      "100",
    ],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const report: StreamReport = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals([report.received, report.same], [100 * MEBIBYTE, true]);
  assert(report.growth < 64 * MEBIBYTE, `memory grew by ${Math.round(report.growth / MEBIBYTE)} MiB`);
});
