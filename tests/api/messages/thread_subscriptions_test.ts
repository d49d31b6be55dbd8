import { assertEquals, assertRejects } from "@std/assert";
import { threadSubscriptionsAPI } from "../../../src/api/messages/mod.ts";
import { UnrecognizedError } from "@greenroom/matrix/errors";
import { inTurn, refusal, scripted } from "../../support/scripted_fetch.ts";

const PATH = "/_matrix/client/unstable/io.element.msc4306/rooms/!room:example.org/thread/$root/subscription";

Deno.test("getThreadSubscription() says how the user came to follow a thread, and nothing if it does not", async () => {
  const { session } = scripted({
    [`GET ${PATH}`]: inTurn({ automatic: true }, refusal(404, "M_NOT_FOUND"), refusal(404, "M_UNRECOGNIZED")),
  });
  const { getThreadSubscription: get } = threadSubscriptionsAPI(session);
  assertEquals(await get("!room:example.org", "$root"), { automatic: true });
  assertEquals(await get("!room:example.org", "$root"), undefined);
  await assertRejects(() => get("!room:example.org", "$root"), UnrecognizedError);
});

Deno.test("setThreadSubscription() names the event for which a client subscribes by itself", async () => {
  const { session, requests } = scripted({ "*": {} });
  const { setThreadSubscription: set, removeThreadSubscription: remove } = threadSubscriptionsAPI(session);
  await set("!room:example.org", "$root");
  await set("!room:example.org", "$root", { automatic: "$mention" });
  await remove("!room:example.org", "$root");
  assertEquals(requests.map(({ method, body }) => [method, body ?? null]), [
    ["PUT", {}],
    ["PUT", { automatic: "$mention" }],
    ["DELETE", {}],
  ]);
});
