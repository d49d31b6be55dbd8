/**
 * T177: Who sends a file chooses a name for it that shows another ending than it has, by signs that turn the
 * direction of a text or are not shown, or one that no file system takes.
 *
 * What must hold: the name that a download is said to have is that of a file in a folder,
 * shows its ending last, and has 255 bytes at most.
 *
 * The class of mistake: others' words are taken out of a protocol,
 * and not out of what they can do to a reader.
 */

import { assertEquals } from "@std/assert";
import { clientStage } from "../../../client/support/stage.ts";

const NAMES: Record<string, string> = {
  "invoice\u202efdp.exe": "invoicefdp.exe",
  "photo.png\u2066\u200b\u{e0041}.exe": "photo.png.exe",
  "a\u0085\u2028\u2029\u001b[2Jb.txt": "a[2Jb.txt",
  "../\u200b..": "file",
  [`${"é".repeat(200)}.pdf`]: `${"é".repeat(125)}.pdf`,
};

Deno.test("T177: the name of a download is as it is shown, and fits a file system", async () => {
  await using stage = clientStage();
  const [mallory, bot] = [stage.client("mallory"), stage.client("bot")];
  for (const [filename, expected] of Object.entries(NAMES)) {
    const url = await mallory.uploadMedia(new Uint8Array([1]), { filename });
    const download = await bot.downloadMediaStream(url);
    await download.stream.cancel();
    assertEquals(download.filename ?? "file", expected);
  }
});
