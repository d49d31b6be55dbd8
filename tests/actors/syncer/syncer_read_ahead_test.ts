import { assertEquals } from "@std/assert";
import type { CryptoInput, CryptoOutput } from "../../../src/crypto/engine/engine.ts";
import { heard, response, sinces, syncerStage, type SyncerStageOptions } from "../support/syncer_stage.ts";

/** Crypto that holds each response until the test lets it go. */
function slowCrypto() {
  const turns: { readonly nextBatch: string; go(error?: Error): void }[] = [];
  const crypto: SyncerStageOptions["crypto"] = {
    receiveSync({ nextBatch, toDevice }: CryptoInput) {
      const { promise, resolve, reject } = Promise.withResolvers<CryptoOutput>();
      const go = (error?: Error) =>
        error === undefined
          ? resolve({
            toDevice: toDevice.map((event) => ({ event })),
            decrypted: [],
            underway: [],
            recovered: [],
            encryptedRooms: new Set(),
          })
          : reject(error);
      turns.push({ nextBatch, go });
      return promise;
    },
  };
  return { crypto, turns };
}

const toDevice = {
  ...response("t1", "1"),
  to_device: { events: [{ type: "m.custom", sender: "@bob:a", content: {} }] },
};

Deno.test("The next response is asked for while one is on its way through the client, and handled after it", async () => {
  const { crypto, turns } = slowCrypto();
  await using here = await syncerStage({ crypto, answers: [response("t1", "1"), response("t2", "2")] });
  const texts = heard(here);
  here.api.start();
  await here.settle();
  assertEquals([sinces(here), turns.length, texts], [[undefined, "t1"], 1, []]);
  turns[0]?.go();
  await here.settle();
  assertEquals([sinces(here), turns[1]?.nextBatch, texts], [[undefined, "t1", "t2"], "t2", ["1"]]);
  turns[1]?.go();
  await here.settle();
  assertEquals([sinces(here), texts], [[undefined, "t1", "t2"], ["1", "2"]]);
});

Deno.test("Messages to the device reach their handlers before more is asked for: the server forgets them then", async () => {
  const { crypto, turns } = slowCrypto();
  await using here = await syncerStage({ crypto, answers: [toDevice, response("t2", "2")] });
  here.api.start();
  await here.settle();
  assertEquals([sinces(here), turns.length], [[undefined], 1]);
  turns[0]?.go();
  await here.settle();
  assertEquals(sinces(here), [undefined, "t1", "t2"]);
  turns[1]?.go();
});

Deno.test("Nothing is asked for ahead as long as there is a handler that the next request has to wait for", async () => {
  const { crypto, turns } = slowCrypto();
  await using here = await syncerStage({ crypto, answers: [response("t1", "1"), response("t2", "2")] });
  const handler = () => {};
  here.api.on("org.example.never", handler, { waitSync: true });
  here.api.start();
  await here.settle();
  assertEquals(sinces(here), [undefined]);
  here.api.removeEventHandler("org.example.never", handler);
  turns[0]?.go();
  await here.settle();
  assertEquals([sinces(here), turns.length], [[undefined, "t1", "t2"], 2]);
  turns[1]?.go();
});

Deno.test("A response that says nothing new has nothing asked for ahead: the pause comes first", async () => {
  await using here = await syncerStage({ answers: [{ next_batch: "t1" }, { next_batch: "t1" }] });
  here.api.start();
  await here.settle();
  assertEquals(sinces(here), [undefined, "t1"]);
  await here.clock.tick(1_000);
  assertEquals(sinces(here), [undefined, "t1", "t1"]);
});

Deno.test("The pause is counted from when a response was asked for, ahead or not", async () => {
  const { crypto, turns } = slowCrypto();
  await using here = await syncerStage({ crypto, answers: [response("t1", "1"), { next_batch: "t1" }] });
  here.api.start();
  await here.settle();
  await here.clock.tick(1_000);
  turns[0]?.go();
  await here.settle();
  turns[1]?.go();
  await here.settle();
  assertEquals(sinces(here), [undefined, "t1", "t1"]);
});

Deno.test("A request sent ahead is aborted when the response before it has to come again", async () => {
  const { crypto, turns } = slowCrypto();
  await using here = await syncerStage({
    crypto,
    answers: [response("t1", "1"), undefined, response("t1", "1")],
  });
  const texts = heard(here);
  here.api.start();
  await here.settle();
  turns[0]?.go(new Error("no keys today"));
  await here.settle();
  assertEquals([sinces(here), here.asked[1]?.signal?.aborted], [[undefined, "t1"], false]);
  await here.clock.tick(5_000);
  assertEquals([sinces(here), here.asked[1]?.signal?.aborted], [[undefined, "t1", undefined, "t1"], true]);
  turns[1]?.go();
  await here.settle();
  assertEquals([texts, here.asked[3]?.signal?.aborted], [["1"], false]);
});

Deno.test("A failure of a request sent ahead is reported after the response before it was handled", async () => {
  const { crypto, turns } = slowCrypto();
  const answers = [response("t1", "1"), new Error("gone"), response("t2", "2")];
  await using here = await syncerStage({ crypto, answers });
  const seen = heard(here);
  here.api.on("SYNC_ERRORED", ({ error }) => seen.push(error.message));
  here.api.start();
  await here.settle();
  assertEquals([sinces(here), seen], [[undefined, "t1"], []]);
  turns[0]?.go();
  await here.settle();
  assertEquals(seen, ["1", "gone"]);
  await here.clock.tick(5_000);
  turns[1]?.go();
  await here.settle();
  assertEquals([sinces(here), seen], [[undefined, "t1", "t1", "t2"], ["1", "gone", "2"]]);
});

Deno.test("stop() ends what was asked for ahead; a new start asks again", async () => {
  const { crypto, turns } = slowCrypto();
  await using here = await syncerStage({ crypto, answers: [response("t1", "1")] });
  here.api.start();
  await here.settle();
  const stopped = here.api.stop();
  turns[0]?.go();
  await stopped;
  assertEquals([sinces(here), here.asked[1]?.signal?.aborted], [[undefined, "t1"], true]);
  here.answers[2] = response("t2", "2");
  here.api.start();
  await here.settle();
  turns[1]?.go();
  await here.settle();
  assertEquals(sinces(here), [undefined, "t1", "t1", "t2"]);
});

Deno.test("syncOnce() asks for nothing ahead", async () => {
  await using here = await syncerStage({ answers: [response("t1", "1")] });
  await here.api.syncOnce();
  assertEquals(sinces(here), [undefined]);
});
