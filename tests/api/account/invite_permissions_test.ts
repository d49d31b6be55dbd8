import { assertEquals, assertRejects } from "@std/assert";
import { invitePermissionsAPI } from "../../../src/api/account/invite_permissions.ts";
import { UnsupportedFeatureError, ValueError } from "@greenroom/matrix/errors";
import type { JsonObject } from "@greenroom/matrix/types";
import { refusal, type Rule, scripted } from "../../support/scripted_fetch.ts";

const DATA = "/_matrix/client/v3/user/@alice:example.org/account_data";
const CONFIG = `${DATA}/m.invite_permission_config`;
const FILTER = `${DATA}/org.matrix.msc4155.invite_permission_config`;

function server(features: string[], rules: Record<string, Rule> = {}) {
  const { session, requests } = scripted({
    "GET /_matrix/client/versions": {
      versions: features.filter((each) => each.startsWith("v")),
      unstable_features: Object.fromEntries(features.map((each) => [each, true])),
    },
    "*": ({ method }) => method === "GET" ? refusal(404, "M_NOT_FOUND") : {},
    ...rules,
  }, { retry: false });
  const puts = () =>
    requests.filter(({ method }) => method === "PUT")
      .map(({ path, body }) => [decodeURIComponent(path), body]);
  return { ...invitePermissionsAPI(session), puts, requests };
}

const STABLE = "org.matrix.msc4380.stable";
const LISTS = "org.matrix.msc4155";

/** What a homeserver keeps of the configuration. */
function kept(): Record<string, Rule> {
  let config: JsonObject | undefined;
  return {
    [`GET ${CONFIG}`]: () => config ?? refusal(404, "M_NOT_FOUND"),
    [`PUT ${CONFIG}`]: ({ body }) => (config = body as JsonObject, {}),
  };
}

Deno.test("setInvitePermissions() blocks all invitations where the homeserver can, and lets them through again", async () => {
  for (const feature of [STABLE, "v1.18"]) {
    const { setInvitePermissions, puts } = server([feature], kept());
    await setInvitePermissions({ default_action: "block" });
    await setInvitePermissions({});
    assertEquals(puts(), [[CONFIG, { default_action: "block" }], [CONFIG, {}]]);
  }
});

Deno.test("setInvitePermissions() writes lists where the homeserver has them, and takes away those of before", async () => {
  const { setInvitePermissions, puts } = server([STABLE, LISTS], kept());
  await setInvitePermissions({ allowed_users: ["@*:example.org"], blocked_servers: ["*"] });
  await setInvitePermissions({ default_action: "block" });
  await setInvitePermissions({ blocked_users: ["@bore:example.org"] });
  assertEquals(puts(), [
    [FILTER, { allowed_users: ["@*:example.org"], blocked_servers: ["*"] }],
    [CONFIG, { default_action: "block" }],
    [FILTER, {}],
    [FILTER, { blocked_users: ["@bore:example.org"] }],
    [CONFIG, {}], // else all would stay blocked; last, so that nobody gets through in between
  ]);
});

Deno.test("setInvitePermissions({}) writes no configuration where there is none: Synapse would take that for one, and no list would count", async () => {
  const { setInvitePermissions, puts } = server([STABLE, LISTS], kept());
  await setInvitePermissions({});
  assertEquals(puts(), [[FILTER, {}]]);
  await server(["v1.15"]).setInvitePermissions({});
});

Deno.test("setInvitePermissions() says what the homeserver lacks, and writes nothing", async () => {
  const { setInvitePermissions, puts } = server(["v1.15"]);
  await assertRejects(
    () => setInvitePermissions({ default_action: "block" }),
    UnsupportedFeatureError,
    "neither v1.18 of the specification nor org.matrix.msc4380.stable",
  );
  await assertRejects(
    () => server([STABLE]).setInvitePermissions({ blocked_users: ["@a:b"] }),
    UnsupportedFeatureError,
    "does not have org.matrix.msc4155",
  );
  assertEquals(puts(), []);
});

Deno.test("setInvitePermissions() refuses what says nothing about invitations, and asks nothing", async () => {
  const { setInvitePermissions, requests } = server([STABLE, LISTS]);
  const wrong: [unknown, string][] = [
    [undefined, "must be an object"],
    ["block", "must be an object"],
    [{ defaultAction: "block" }, "did you mean default_action?"],
    [{ default_action: true }, "default_action is not a string"],
    [{ blocked_users: "@a:b" }, "blocked_users is not a list"],
    [{ blocked_users: ["@a:b", 5] }, "blocked_users"],
  ];
  for (const [permissions, mend] of wrong) {
    await assertRejects(() => setInvitePermissions(permissions as never), ValueError, mend);
  }
  assertEquals(requests, []);
});

Deno.test("getInvitePermissions() reads both, without what is none, and nothing where nothing was set", async () => {
  assertEquals(await server([STABLE, LISTS]).getInvitePermissions(), {});
  const rules = {
    [`GET ${CONFIG}`]: { default_action: "block" },
    [`GET ${FILTER}`]: { blocked_users: ["@a:b", 5], allowed_users: "all", default_action: "no" },
  };
  assertEquals(await server([STABLE], rules).getInvitePermissions(), { default_action: "block" });
  const { blocked_users, allowed_users, default_action } = await server([LISTS], rules)
    .getInvitePermissions();
  assertEquals([blocked_users, allowed_users, default_action], [["@a:b"], undefined, "block"]);
});
