/**
 * T172: Who has a bot describe an image stops it: 792 bytes take gigabytes of memory and half a minute. What
 * is in an image is counted before it is unpacked: frames, components, blocks, scans, and whether its data
 * can be of so many pixels.
 *
 * Class of mistake: a head is checked that is not the one by which memory is taken.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { decodeImage } from "../../../../src/bot/media/media.ts";
import { measureImage } from "@greenroom/matrix/bot";
import { imageBombs } from "../../../support/image_bombs.ts";

const MEGABYTE = 1_024 * 1_024;
/** Beyond those that a process takes before. An image of a million pixels may take 40. */
const MAX_MEGABYTES = 300;

Deno.test("T172: a JPEG or PNG that would take more than its size says is refused before it is unpacked", async () => {
  for (const [name, data] of Object.entries(await imageBombs())) {
    // Has the pixels that its head says.
    if (name.startsWith("a GIF") || name.includes("second head")) continue;
    await assertRejects(
      () => decodeImage(data, measureImage(data)),
      ValueError,
      "there is more in it than it says",
      name,
    );
  }
});

Deno.test("T172: bombs, and images that are broken at random, take bounded memory", async () => {
  const program = new URL("../../../support/image_bombs.ts", import.meta.url).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--allow-read", "--allow-env", program, "400"],
  }).output();
  assertEquals([success, new TextDecoder().decode(stderr)], [true, ""]);
  const taken = Number(new TextDecoder().decode(stdout));
  assert(taken < MAX_MEGABYTES * MEGABYTE, `${Math.round(taken / MEGABYTE)} MB`);
});
