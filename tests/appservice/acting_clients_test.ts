import { assertEquals, assertRejects } from "@std/assert";
import { ActorStoppedError, Client, MemoryStore, StoreError } from "@greenroom/matrix";
import type { TransactionID, UserID } from "@greenroom/matrix/types";
import { callHandler } from "../../src/base/handler_scope.ts";
import { ActingClients } from "../../src/appservice/acting_clients.ts";
import { clientStage } from "../client/support/stage.ts";

const GHOST: UserID = "@ghost:localhost";
const SCOPE = { name: "one", transactionId: () => Promise.resolve("t" as TransactionID) };

Deno.test("A handler whose ghost was stopped by a failure of its store under something else has not handled", async () => {
  await using stage = clientStage();
  const { homeserver: { baseUrl, fetch }, log, clock } = stage;
  await using bot = new Client({ baseUrl, fetch, clock, mxid: "@bot:localhost" });
  const lost: StoreError[] = [];
  const clients = new ActingClients({
    ...{
      transport: { baseUrl, fetch, log },
      bot,
      store: new MemoryStore(),
      encryption: false,
      deviceId: undefined,
    },
    prepare: () => () => Promise.resolve(),
    onDeviceLost: () => {},
    onStoreLost: (error) => void lost.push(error),
    limit: 2,
    log,
  });
  const failure = new StoreError("the disk is gone");
  const stopped = new ActorStoppedError("crypto");
  const fails = (error: unknown) => assertRejects(() => clients.run(GHOST, () => Promise.reject(error)));
  const handles = (call: () => Promise<unknown>) => callHandler(SCOPE, call, {}, {});

  await fails(failure);
  assertEquals(lost, []); // nothing is handled
  await handles(() => fails(stopped));
  assertEquals(lost, [failure]);
  await clients.run(GHOST, () => Promise.resolve());
  await handles(() => fails(stopped));
  assertEquals(lost, [failure]); // by something else
  await clients.close();
});
