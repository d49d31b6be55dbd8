import { assertEquals, assertRejects } from "@std/assert";
import { presenceAPI } from "../../../src/api/account/account.ts";
import { ForbiddenError, ServiceResponseError, ValueError } from "@greenroom/matrix/errors";
import type { UserID } from "@greenroom/matrix/types";
import { refusal, scripted } from "../../support/scripted_fetch.ts";

const BOB = "GET /_matrix/client/v3/presence/@bob:b.org/status";
const OWN = "PUT /_matrix/client/v3/presence/@alice:example.org/status";

Deno.test("getPresence() returns the server's answer", async () => {
  const presence = {
    presence: "unavailable",
    last_active_ago: 1000,
    status_msg: "Asleep",
    currently_active: false,
  };
  const { session } = scripted({ [BOB]: presence });
  assertEquals<unknown>(await presenceAPI(session).getPresence("@bob:b.org"), presence);
});

Deno.test("setPresence() says online by default, and a status only if there is one", async () => {
  const { session, log, requests } = scripted({ [OWN]: {} });
  const api = presenceAPI(session);
  await api.setPresence();
  await api.setPresence({ presence: "offline", status: "Gone" });
  await api.setPresence({ status: "" });
  assertEquals(log(), [OWN, OWN, OWN]);
  assertEquals(requests.map(({ body }) => body), [
    { presence: "online" },
    { presence: "offline", status_msg: "Gone" },
    { presence: "online", status_msg: "" },
  ]);
});

Deno.test("getPresence() reports a refusal, rejects an answer without presence, and refuses what is no user ID", async () => {
  const refused = presenceAPI(scripted({ [BOB]: refusal(403, "M_FORBIDDEN") }).session);
  await assertRejects(() => refused.getPresence("@bob:b.org"), ForbiddenError);
  const broken = presenceAPI(scripted({ [BOB]: {} }).session);
  await assertRejects(() => broken.getPresence("@bob:b.org"), ServiceResponseError, "presence");
  const { session, requests } = scripted();
  await assertRejects(() => presenceAPI(session).getPresence("bob" as UserID), ValueError, "userId");
  assertEquals(requests, []);
});
