/**
 * What a server answers about a dehydrated device, whatever it means by that:
 * no key is lost, and all of it ends.
 */

import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { history } from "../identity/scene.ts";
import {
  away,
  bot,
  dehydratedDevices,
  inSmallPages,
  leave,
  outcomeOf,
  refusal,
  says,
  watched,
} from "./scene.ts";

const isPage = ({ url }: Request) => url.includes("/events");

/** A page as the server has it, with others before what is in it. */
async function padded(here: ClientStage, request: Request, before: readonly unknown[]): Promise<Response> {
  const page = await (await here.homeserver.fetch(request)).json();
  return Response.json({ ...page, events: [...before, ...page.events] });
}

function warnings(here: ClientStage, text: string): number {
  return here.log.lines.filter(([, message]) => message.includes(text)).length;
}

Deno.test("While the server can't say which device there is, none takes its place", async () => {
  await using here = clientStage();
  const { roomId } = await away(here, "one");
  let isDown = true;
  const { fetch, made } = watched(
    here,
    (request) => isDown && request.method === "GET" ? refusal(500, "M_UNKNOWN") : undefined,
  );
  const client = await bot(here, "SECOND", { fetch });
  assertEquals([await outcomeOf(client), made.includes("PUT")], ["failed", false]);
  isDown = false;
  assertEquals([await outcomeOf(client), await history(client, roomId)], ["on", ["one by direct"]]);
});

Deno.test("A server that shows a device and gives none of its messages is asked four times, and not for ever", async () => {
  await using here = clientStage();
  await away(here, "one");
  let asked = 0;
  const { fetch } = watched(
    here,
    (request) => isPage(request) && ++asked < 20 ? refusal(403, "M_FORBIDDEN") : undefined,
  );
  const client = await bot(here, "SECOND", { fetch });
  assertEquals([await outcomeOf(client), asked], ["on", 4]);
});

Deno.test("A page without messages is the last one, whatever the server says follows", async () => {
  await using here = clientStage();
  await away(here);
  let pages = 0;
  const { fetch } = watched(here, (request) => {
    if (!isPage(request) || pages === 20) return undefined;
    return Response.json({ events: [], next_batch: `d${++pages}` });
  });
  const client = await bot(here, "SECOND", { fetch });
  assertEquals([await outcomeOf(client), pages], ["on", 1]);
});

Deno.test("All messages of a page are read, however many there are", async () => {
  await using here = clientStage();
  const { roomId } = await away(here, "after others");
  const junk = Array.from({ length: 250 }, () => null);
  const { fetch } = watched(here, (request) => isPage(request) ? padded(here, request, junk) : undefined);
  assertEquals(await history(await bot(here, "SECOND", { fetch }), roomId), ["after others by direct"]);
});

Deno.test("A message that fails in a way that nobody has thought of is left out, and no other one", async () => {
  await using here = clientStage();
  const { roomId } = await away(here, "one", "two");
  const Olm = Object.getPrototypeOf((await Vodozemac.create()).olm);
  const { readPreKeyMessage } = Olm;
  Olm.readPreKeyMessage = function (body: Uint8Array) {
    if (body.length === 3) throw new TypeError("Nobody has thought of this");
    return readPreKeyMessage.call(this, body);
  };
  try {
    const { fetch } = watched(here, (request) => {
      if (!isPage(request)) return undefined;
      const to = decodeURIComponent(new URL(request.url).pathname.split("/").at(-2) ?? "");
      const ciphertext = { [to]: { type: 0, body: "AAAA" } };
      const content = { algorithm: "m.olm.v1.curve25519-aes-sha2", sender_key: "A".repeat(43), ciphertext };
      return padded(here, request, [{ type: "m.room.encrypted", sender: "@mallory:localhost", content }]);
    });
    const client = await bot(here, "SECOND", { fetch });
    assertEquals([await outcomeOf(client), await history(client, roomId)], ["on", [
      "one by direct",
      "two by direct",
    ]]);
    assertEquals(warnings(here, "Skipped a message"), 1);
  } finally {
    Olm.readPreKeyMessage = readPreKeyMessage;
  }
});

Deno.test("A device that takes the place of one that was read in part, before the next start, is read", async () => {
  await using here = clientStage();
  const { friend, roomId } = await away(here, "one", "two", "three");
  let pages = 0;
  const { fetch } = watched(here, (request) => {
    if (!isPage(request)) return undefined;
    return ++pages === 2 ? refusal(500, "M_UNKNOWN") : here.homeserver.fetch(inSmallPages(request, 2));
  });
  const store = new MemoryStore();
  const lease = { duration: 1_000 };
  const client = await bot(here, "SECOND", { fetch, store, lease });
  await client.close();
  await leave(await bot(here, "RIVAL"));
  await says(friend, roomId, "four");

  const again = await bot(here, "SECOND", { store, lease });
  assertEquals([await outcomeOf(again), warnings(here, "can't be read")], ["on", 0]);
  assertEquals((await history(again, roomId)).at(-1), "four by direct");
});

Deno.test("A device that the server has made is not read, and the log says so", async () => {
  await using here = clientStage();
  await away(here, "one");
  const { olm } = await Vodozemac.create();
  using account = olm.createAccount();
  const { ciphertext: device_pickle, nonce } = account.dehydrate(new Uint8Array(32));
  const device_data = { algorithm: "org.matrix.msc3814.v2", device_pickle, nonce };
  const { fetch, made } = watched(
    here,
    ({ method, url }) =>
      method === "GET" && !url.includes("/events")
        ? Response.json({ device_id: account.curve25519Key, device_data })
        : undefined,
  );
  const client = await bot(here, "SECOND", { fetch });
  assertEquals([await outcomeOf(client), made], ["on", ["GET", "PUT"]]);
  assertEquals(warnings(here, "The dehydrated device can't be read"), 1);
});

Deno.test("A server that says that it has the device, and shows no such keys, is given another one", async () => {
  await using here = clientStage();
  let lost: Record<string, unknown> | undefined;
  const { fetch, made } = watched(here, async (request) => {
    if (request.method === "PUT" && lost === undefined) {
      lost = await request.clone().json();
      return refusal(502, "M_UNKNOWN");
    }
    if (request.method !== "GET" || lost === undefined) return undefined;
    return Response.json({ device_id: lost.device_id, device_data: lost.device_data });
  });
  const client = await bot(here, "BOT", { fetch });
  assertEquals(await dehydratedDevices(client), []);
  assertEquals([await outcomeOf(client), made], ["on", ["GET", "PUT", "GET", "PUT"]]);
  assertEquals((await dehydratedDevices(client)).length, 1);
});
