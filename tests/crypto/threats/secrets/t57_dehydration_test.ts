/** The key of dehydrated devices, in logs, errors and objects. */

import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { decodeBase64 } from "../../../../src/types/base64.ts";
import { bot, friendOf, leave, refusal, says, watched } from "../../../encryption/dehydration/scene.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { KEY } from "../../../encryption/identity/scene.ts";
import { plantKeys } from "../conversation.ts";
import { Planted, seen } from "../planted.ts";

Deno.test("T57: nothing that a dehydrated device is made or read with is in any log, error or object", async () => {
  await using here = clientStage();
  const planted = new Planted();
  const store = new MemoryStore();
  const first = await bot(here, "FIRST", { store });
  using storage = await first.secretStorage.open({ recoveryKey: KEY });
  const secret = await storage.get("org.matrix.msc3814") ?? "";
  planted.add("pickle key", secret);
  planted.add("pickle key, as bytes", decodeBase64(secret) ?? new Uint8Array());
  const records = new Planted();
  await plantKeys(records, store);
  assert(records.names.some((name) => name.includes("dehydration")), records.names.join());
  const told: unknown[] = [first, first.crypto, await first.crypto?.ensureVerified()];
  const { friend, roomId } = await friendOf(here, first);
  await leave(first);
  await says(friend, roomId, "hello");
  for (const status of [400, 403, 500]) {
    const { fetch } = watched(
      here,
      ({ method }) => method === "PUT" ? refusal(status, "M_UNKNOWN") : undefined,
    );
    const next = await bot(here, `NEXT${status}`, { fetch });
    told.push(next, await next.crypto?.ensureVerified());
  }
  assertEquals(planted.leaksIn([...told, ...here.log.lines].map(seen).join("\n")), []);
});
