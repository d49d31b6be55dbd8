/** Requests that fail while history is shared. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { MatrixRequestError } from "@greenroom/matrix";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { ticking } from "../identity/crash_scene.ts";
import { history } from "../identity/scene.ts";
import { accepts, GUEST, roomOf, sharer } from "./scene.ts";

/** A host whose first requests of a kind fail, and which of them were made. */
async function failingHost(here: ClientStage, path: string, fail: () => Response) {
  let [failures, asked] = [0, 0];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (!new URL(String(input)).pathname.includes(path)) return await here.homeserver.fetch(input, init);
    asked++;
    if (failures === 0) return await here.homeserver.fetch(input, init);
    failures--;
    return fail();
  };
  const host = await sharer(here, "host", { fetch, retry: {} });
  return {
    host,
    fails: (count: number) => [failures, asked] = [count, 0],
    asked: () => asked,
  };
}

const GATEWAY = () => new Response("<html>Bad gateway</html>", { status: 502 });
const LOST = () => {
  throw new TypeError("the connection was lost");
};

Deno.test("A request that fails for now leaves nobody without history: it is made again", async () => {
  for (const path of ["/keys/claim", "/media/v3/upload", "/keys/query"]) {
    for (const failure of [GATEWAY, LOST]) {
      await using here = clientStage();
      const { host, fails, asked } = await failingHost(here, path, failure);
      const guest = await sharer(here, "guest");
      const roomId = await roomOf(host, ["one"]);
      fails(2);
      await ticking(here, host.inviteUser(roomId, GUEST));
      assertEquals(asked(), 3, path);
      await accepts(guest, roomId);
      assertEquals(await history(guest, roomId), ["one by bundle"], path);
    }
  }
});

Deno.test("Who can't be told for want of a one-time key is not taken for one without devices", async () => {
  await using here = clientStage();
  const { host, fails, asked } = await failingHost(
    here,
    "/keys/claim",
    () => Response.json({ errcode: "M_UNKNOWN", error: "Broken" }, { status: 500 }),
  );
  await sharer(here, "guest");
  const roomId = await roomOf(host, ["one"]);
  fails(1);
  await assertRejects(async () => await host.crypto?.shareHistory(roomId, GUEST), MatrixRequestError);
  assertEquals(asked(), 1);
  await here.clock.tick(60_000);
  assertEquals((await host.crypto?.shareHistory(roomId, GUEST))?.outcome, "shared");
});

Deno.test("A file without end is read as far as the largest one goes, and given up", async () => {
  await using here = clientStage();
  const host = await sharer(here, "host");
  const part = new Uint8Array(2 ** 20);
  let [asked, given] = [0, 0];
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if ((given += part.length) > 64 * 2 ** 20) controller.close();
        else controller.enqueue(part.slice());
      },
    });
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.includes("/media/download")) return await here.homeserver.fetch(request);
    asked++;
    return new Response(endless());
  };
  const guest = await sharer(here, "guest", { fetch });
  const roomId = await roomOf(host, ["one"]);
  await host.inviteUser(roomId, GUEST);
  await accepts(guest, roomId);
  await here.clock.tick(43_200_000); // half of the day in which it is asked for again
  await guest.syncOnce();
  await guest.crypto?.idle();
  assertEquals([asked, await history(guest, roomId)], [1, ["MISSING_KEY"]]);
  assert(given < 40 * 2 ** 20, `${given}`);
});

Deno.test("A file that was cut off on its way is downloaded again", async () => {
  await using here = clientStage();
  const host = await sharer(here, "host");
  let asked = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const response = await here.homeserver.fetch(request);
    if (!request.url.includes("/media/download") || ++asked > 1) return response;
    return new Response((await response.bytes()).slice(0, -20));
  };
  const guest = await sharer(here, "guest", { fetch });
  const roomId = await roomOf(host, ["one"]);
  await host.inviteUser(roomId, GUEST);
  await accepts(guest, roomId);
  assertEquals([asked, await history(guest, roomId)], [2, ["one by bundle"]]);
});
