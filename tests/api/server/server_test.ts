import { assert, assertEquals, assertRejects } from "@std/assert";
import { accountModerationAPI } from "../../../src/api/server/server.ts";
import { ForbiddenError, UnsupportedFeatureError, ValueError } from "@greenroom/matrix/errors";
import { refusal, type Rule, scripted } from "../../support/scripted_fetch.ts";

const USER = "@spammer:example.org";
const ADMIN = "/_matrix/client/v1/admin";

function api(rules: Record<string, Rule>, versions: object = { versions: ["v1.18"] }) {
  const { session, requests } = scripted({ "GET /_matrix/client/versions": versions, ...rules }, {
    retry: false,
  });
  return { ...accountModerationAPI(session), requests };
}

Deno.test("An administrator locks and suspends a user, and asks whether a user is", async () => {
  const admin = api({
    [`GET ${ADMIN}/lock/${USER}`]: { locked: true },
    [`GET ${ADMIN}/suspend/${USER}`]: { suspended: false },
    [`PUT ${ADMIN}/lock/${USER}`]: { locked: false },
    [`PUT ${ADMIN}/suspend/${USER}`]: { suspended: true },
  });
  assertEquals([await admin.isUserLocked(USER), await admin.isUserSuspended(USER)], [true, false]);
  const [no, yes] = [false, true];
  await admin.setUserLocked(USER, no);
  await admin.setUserSuspended(USER, yes);
  const puts = admin.requests.filter(({ method }) => method === "PUT");
  assertEquals(puts.map(({ path, body }) => [decodeURIComponent(path).slice(ADMIN.length), body]), [
    [`/lock/${USER}`, { locked: false }],
    [`/suspend/${USER}`, { suspended: true }],
  ]);
});

Deno.test("Locking and suspending is refused where the homeserver can't, and to others than administrators", async () => {
  const old = api({}, { versions: ["v1.17"] });
  const yes = true;
  const calls = [
    () => old.isUserLocked(USER),
    () => old.setUserLocked(USER, yes),
    () => old.isUserSuspended(USER),
    () => old.setUserSuspended(USER, yes),
  ];
  for (const call of calls) {
    await assertRejects(
      call,
      UnsupportedFeatureError,
      "neither v1.18 of the specification nor uk.timedout.msc4323",
    );
  }
  assertEquals(old.requests.length, 1);
  const { setUserLocked } = api({ "*": refusal(403, "M_FORBIDDEN") });
  await assertRejects(() => setUserLocked(USER, yes), ForbiddenError);
  await assertRejects(() => old.setUserLocked(USER, "false" as never), ValueError, "must be true or false");
});

Deno.test("A homeserver that has only the proposal is asked at its address", async () => {
  const unstable = { versions: ["v1.17"], unstable_features: { "uk.timedout.msc4323": true } };
  const { setUserSuspended, isUserLocked, requests } = api(
    { "*": { locked: true, suspended: true } },
    unstable,
  );
  const yes = true;
  await setUserSuspended(USER, yes);
  assert(await isUserLocked(USER));
  const path = "/_matrix/client/unstable/uk.timedout.msc4323/admin";
  assertEquals(requests.map(({ path }) => decodeURIComponent(path)), [
    "/_matrix/client/versions",
    `${path}/suspend/${USER}`,
    `${path}/lock/${USER}`,
  ]);
});
