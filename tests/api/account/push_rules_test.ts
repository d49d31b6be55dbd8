import { assertEquals, assertRejects } from "@std/assert";
import { pushRulesAPI } from "../../../src/api/account/push_rules.ts";
import { NotFoundError, ServiceResponseError, ValueError } from "@greenroom/matrix/errors";
import { refusal, scripted } from "../../support/scripted_fetch.ts";

const RULES = "/_matrix/client/v3/pushrules/global/";
const RULE = `${RULES}content/cue`;
const rule = { rule_id: "cue", default: false, enabled: true, actions: ["notify"], pattern: "cue" };

Deno.test("Push rules are listed, looked up and removed", async () => {
  const { session, log } = scripted({
    [`GET ${RULES}`]: { content: [rule] },
    [`GET ${RULE}`]: rule,
    [`DELETE ${RULE}`]: {},
  });
  const api = pushRulesAPI(session);
  assertEquals<unknown>(await api.getPushRules(), { content: [rule] });
  assertEquals<unknown>(await api.getPushRule("global", "content", "cue"), rule);
  assertEquals(await api.removePushRule("global", "content", "cue"), undefined);
  assertEquals(log(), [`GET ${RULES}`, `GET ${RULE}`, `DELETE ${RULE}`]);
});

Deno.test("setPushRule() sends actions, and pattern, conditions and place only if they are given", async () => {
  const { session, log, requests } = scripted({ [`PUT ${RULE}`]: {}, [`PUT ${RULES}override/!a/b`]: {} });
  const api = pushRulesAPI(session);
  await api.setPushRule("global", "content", "cue", []);
  await api.setPushRule("global", "content", "cue", ["notify"], { pattern: "cue", before: "a", after: "b" });
  const conditions = [{ kind: "room_member_count", is: ">2" }];
  await api.setPushRule("global", "override", "!a/b", [{ set_tweak: "highlight" }], { conditions });
  assertEquals(log(), [`PUT ${RULE}`, `PUT ${RULE}?before=a&after=b`, `PUT ${RULES}override/!a/b`]);
  assertEquals(requests.map(({ body }) => body), [
    { actions: [] },
    { actions: ["notify"], pattern: "cue" },
    { actions: [{ set_tweak: "highlight" }], conditions },
  ]);
});

Deno.test("A push rule's being in force and its actions are read and set on their own", async () => {
  const { session, log, requests } = scripted({
    [`GET ${RULE}/enabled`]: { enabled: false },
    [`PUT ${RULE}/enabled`]: {},
    [`GET ${RULE}/actions`]: { actions: ["notify"] },
    [`PUT ${RULE}/actions`]: {},
  });
  const api = pushRulesAPI(session);
  const enabled = false;
  assertEquals(await api.isPushRuleEnabled("global", "content", "cue"), enabled);
  await api.setPushRuleEnabled("global", "content", "cue", enabled);
  assertEquals(await api.getPushRuleActions("global", "content", "cue"), ["notify"]);
  await api.setPushRuleActions("global", "content", "cue", ["notify"]);
  assertEquals(log(), [
    `GET ${RULE}/enabled`,
    `PUT ${RULE}/enabled`,
    `GET ${RULE}/actions`,
    `PUT ${RULE}/actions`,
  ]);
  assertEquals(requests.map(({ body }) => body), [undefined, { enabled }, undefined, {
    actions: ["notify"],
  }]);
});

Deno.test("getPushRule() raises if there is no such rule, and rejects what is no rule", async () => {
  const none = scripted({ [`GET ${RULE}`]: refusal(404, "M_NOT_FOUND") });
  await assertRejects(
    () => pushRulesAPI(none.session).getPushRule("global", "content", "cue"),
    NotFoundError,
  );
  const broken = scripted({ [`GET ${RULE}`]: { ...rule, actions: undefined } });
  await assertRejects(
    () => pushRulesAPI(broken.session).getPushRule("global", "content", "cue"),
    ServiceResponseError,
    "actions",
  );
});

Deno.test("Operations on push rules refuse another scope than global and an empty rule ID, and send nothing", async () => {
  const { session, requests } = scripted();
  const api = pushRulesAPI(session);
  await assertRejects(() => api.getPushRule("device/x" as "global", "content", "cue"), ValueError, "scope");
  await assertRejects(
    () => api.setPushRule("device/x" as "global", "content", "cue", []),
    ValueError,
    "scope",
  );
  await assertRejects(() => api.removePushRule("global", "content", ""), ValueError, "ruleId");
  assertEquals(requests, []);
});
