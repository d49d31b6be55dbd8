import { assertEquals, assertRejects } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { ActorStoppedError, EncryptionError, StoreError } from "@greenroom/matrix/errors";
import type { TransactionID, UserID } from "@greenroom/matrix/types";
import { HandlerCall } from "../../src/base/handler_call.ts";
import { ActingClients } from "../../src/appservice/service_kit.ts";
import { clientStage } from "../client/support/stage.ts";

const GHOST: UserID = "@ghost:localhost";
const ENDED = "Cannot go on: the client of @ghost:localhost has ended under what it did";
const SCOPE = { name: "one", transactionId: () => Promise.resolve("t" as TransactionID) };

/** Clients that act, one of whose stores may fail; with why it has failed in handlers. */
function failingClients() {
  const stage = clientStage();
  const { homeserver: { baseUrl, fetch }, log, clock } = stage;
  const bot = new Client({ baseUrl, fetch, clock, mxid: "@bot:localhost" });
  const lost: StoreError[] = [];
  const clients = new ActingClients({
    ...{
      transport: { baseUrl, fetch, log },
      bot,
      store: new MemoryStore(),
      encryption: false,
      deviceId: undefined,
    },
    ghosts: { prepare: () => () => Promise.resolve(), forget() {} },
    token: { check: () => Promise.resolve() },
    limit: 2,
    log,
  }, { fails: (error) => void lost.push(error as StoreError) });
  return {
    lost,
    failure: new StoreError("the disk is gone"),
    stopped: new ActorStoppedError("crypto"),
    succeeds: () => clients.run(GHOST, () => Promise.resolve()),
    fails: (error: unknown) => assertRejects(() => clients.run(GHOST, () => Promise.reject(error))),
    handles: (call: () => Promise<unknown>) =>
      Promise.resolve(new HandlerCall({}, SCOPE, () => {}).run(call, {})),
    async [Symbol.asyncDispose]() {
      await clients.close();
      await bot.close();
      await stage[Symbol.asyncDispose]();
    },
  };
}

Deno.test("A handler whose ghost was stopped by a failure of its store under something else has not handled", async () => {
  await using scene = failingClients();
  const { lost, failure, stopped, fails, handles } = scene;
  await fails(failure);
  assertEquals(lost, []); // nothing is handled
  await handles(() => fails(stopped));
  assertEquals(lost, [failure]);
});

Deno.test("A handler whose ghost was stopped has not handled, though nobody was told why, or others succeeded since", async () => {
  await using scene = failingClients();
  const { lost, failure, stopped, succeeds, fails, handles } = scene;
  await fails(stopped);
  assertEquals(lost, []); // nothing is handled
  await fails(failure);
  await succeeds();
  await handles(() => fails(stopped));
  await handles(() => fails(new EncryptionError("it can't be encrypted", { cause: stopped })));
  assertEquals(lost.map(({ message }) => message), Array(2).fill(ENDED));
  assertEquals(lost[0]?.cause, stopped);
});
