import { assertEquals, assertRejects } from "@std/assert";
import { ServiceResponseError } from "@greenroom/matrix/errors";
import { inTurn, refusal, scripted } from "../../support/scripted_fetch.ts";

const WHOAMI = "GET /_matrix/client/v3/account/whoami";
const VERSIONS = "GET /_matrix/client/versions";

Deno.test("Session.userId() is the user the request acts for, else the one given, else the one the server names, once", async () => {
  const given = scripted();
  assertEquals(await given.session.userId({ asUserId: "@ghost:example.org" }), "@ghost:example.org");
  assertEquals(await given.session.userId(), "@alice:example.org");
  assertEquals(given.log(), []);
  const { session, log } = scripted({ [WHOAMI]: { user_id: "@bob:b.org", device_id: "DEV" } }, { mxid: "" });
  assertEquals([await session.userId(), await session.userId()], ["@bob:b.org", "@bob:b.org"]);
  assertEquals([session.mxid, session.deviceId, log()], ["@bob:b.org", "DEV", [WHOAMI]]);
  assertEquals(await session.serverName(), "b.org");
});

Deno.test("Session.userId() rejects an answer that names no user", async () => {
  for (const answer of [{}, { user_id: "bob" }]) {
    const { session } = scripted({ [WHOAMI]: answer }, { mxid: "" });
    await assertRejects(() => session.userId(), ServiceResponseError);
  }
});

Deno.test("Session remembers no answer about the user from before a reset", async () => {
  const { promise, resolve } = Promise.withResolvers<object>();
  const { session } = scripted({ [WHOAMI]: () => promise }, { mxid: "" });
  const asked = session.userId();
  session.reset();
  session.mxid = "@carol:c.org";
  resolve({ user_id: "@bob:b.org" });
  assertEquals([await asked, await session.userId()], ["@bob:b.org", "@carol:c.org"]);
});

Deno.test("Session.supports() asks for versions once, again after a failure or a reset, and knows experimental features", async () => {
  const { session, log } = scripted({
    [VERSIONS]: inTurn(
      refusal(403, "M_FORBIDDEN"),
      { versions: ["v1.11"], unstable_features: { "org.example.old": true, "org.example.off": false } },
      { versions: ["v1.12"] },
    ),
  });
  await assertRejects(() => session.supports("v1.12"));
  const answers = [
    await session.supports("v1.12"),
    await session.supports("v1.11"),
    await session.supports("v1.12", "org.example.old"),
    await session.supports("v1.12", "org.example.off"),
  ];
  session.reset();
  assertEquals([...answers, await session.supports("v1.12")], [false, true, true, false, true]);
  assertEquals(log(), [VERSIONS, VERSIONS, VERSIONS]);
});
