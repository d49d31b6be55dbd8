import { assert, assertEquals, assertRejects } from "@std/assert";
import { accountAPI, deviceKeysAPI, devicesAPI, sessionAPI } from "../../../src/api/account/account.ts";
import type { Authentication, AuthenticationData, StageRequest } from "@greenroom/matrix/types";
import { AuthenticationNeededError, ForbiddenError, MatrixRequestError } from "@greenroom/matrix/errors";
import { uiaAPI } from "../../../src/api/account/uia.ts";
import { refusal, type Rule, scripted } from "../../support/scripted_fetch.ts";

const DELETE = "POST /_matrix/client/v3/delete_devices";

/** A homeserver that deletes devices after some stages; `check` refuses what is sent for one. */
function guarded(flows: string[][], check: (auth: AuthenticationData) => boolean = () => true) {
  const completed: string[] = [];
  const challenge = (extra: object = {}) =>
    Response.json({
      session: "s1",
      flows: flows.map((stages) => ({ stages })),
      params: {
        "m.login.terms": { policies: { tos: {} } },
        "m.oauth": { url: "https://auth.example.org/ok" },
      },
      completed: [...completed],
      ...extra,
    }, { status: 401 });
  const rule: Rule = ({ body }) => {
    const { auth } = body as { auth?: AuthenticationData };
    if (auth === undefined) return challenge();
    if (!check(auth)) return challenge({ errcode: "M_FORBIDDEN", error: "Wrong" });
    if (auth.type !== undefined) completed.push(auth.type);
    return flows.some((stages) => stages.every((stage) => completed.includes(stage))) ? {} : challenge();
  };
  const made = scripted({ [DELETE]: rule });
  const auths = () => made.requests.map(({ body }) => (body as { auth?: AuthenticationData }).auth);
  return { ...made, auths, completed, ...devicesAPI(made.session) };
}

Deno.test("An operation that wants no authentication gets none", async () => {
  const { session, body } = scripted({ [DELETE]: {} });
  await devicesAPI(session).deleteDevices(["OLD"], { authentication: { password: "p" } });
  assertEquals(body(), { devices: ["OLD"] });
});

Deno.test("Without authentication the operation fails with what the server wants", async () => {
  const { deleteDevices, requests } = guarded([["m.login.password"]]);
  const error = await assertRejects(() => deleteDevices(["OLD"]), MatrixRequestError);
  assertEquals([error.status, error.body.session, error.body.flows], [401, "s1", [{
    stages: ["m.login.password"],
  }]]);
  assertEquals(requests.length, 1);
});

Deno.test("The error says which ways there are, in words and for programs", async () => {
  const { deleteDevices } = guarded([["m.login.recaptcha", "m.login.terms"], ["m.login.\x1b[31mred"], []]);
  const given = { authentication: { registrationToken: "t" } };
  for (const options of [{}, given]) {
    const error = await assertRejects(
      () => deleteDevices(["OLD"], options),
      AuthenticationNeededError,
      "wants to be shown m.login.recaptcha and m.login.terms, or m.login. [31mred, or nothing;",
    );
    assertEquals(error.challenge.session, "s1");
    assertEquals(error.challenge.flows[0], { stages: ["m.login.recaptcha", "m.login.terms"] });
  }
});

Deno.test("A password, a token and an agreement do their stages, in order and in one session", async () => {
  const { deleteDevices, auths, requests } = guarded([[
    "m.login.registration_token",
    "m.login.terms",
    "m.login.password",
    "m.login.dummy",
  ]]);
  let asked: StageRequest | undefined;
  await deleteDevices(["OLD"], {
    authentication: {
      password: "p",
      registrationToken: "t",
      acceptTerms: (request) => {
        asked = request;
        return true;
      },
    },
  });
  assertEquals(auths(), [
    undefined,
    { type: "m.login.registration_token", session: "s1", token: "t" },
    { type: "m.login.terms", session: "s1" },
    {
      type: "m.login.password",
      session: "s1",
      identifier: { type: "m.id.user", user: "@alice:example.org" },
      password: "p",
    },
    { type: "m.login.dummy", session: "s1" },
  ]);
  assertEquals([asked?.stage, asked?.params], ["m.login.terms", { policies: { tos: {} } }]);
  assert(requests.every(({ body }) => Deno.inspect(body).includes("OLD")), "the request itself is kept");
});

Deno.test("The shortest way that can be gone is gone", async () => {
  const { deleteDevices, completed } = guarded([
    ["m.login.sso"],
    ["m.login.dummy", "m.login.terms", "m.login.password"],
    ["m.login.email.identity", "m.login.dummy"],
    ["m.login.dummy", "m.login.password"],
  ]);
  await deleteDevices([], { authentication: { password: "p", acceptTerms: () => true } });
  assertEquals(completed, ["m.login.dummy", "m.login.password"]);
});

Deno.test("A way that can't be gone fails with what the server wants, before a stage is tried", async () => {
  for (
    const authentication of [{}, { registrationToken: "t" }, {
      stages: { "m.login.sso": () => ({}) },
    }] as Authentication[]
  ) {
    const { deleteDevices, requests } = guarded([["m.login.dummy", "m.login.password"], [
      "m.login.recaptcha",
    ]]);
    await assertRejects(() => deleteDevices([], { authentication }), MatrixRequestError);
    assertEquals(requests.length, 1);
  }
});

Deno.test("A stage that is refused is not tried again: a wrong password does not lock the account", async () => {
  const { deleteDevices, requests } = guarded([["m.login.password"]], () => false);
  const error = await assertRejects(
    () => deleteDevices([], { authentication: { password: "wrong" } }),
    ForbiddenError,
  );
  assertEquals([error.status, requests.length], [401, 2]);
  assert(!Deno.inspect(error, { depth: 9 }).includes("wrong"));
});

Deno.test("An agreement that is not given ends it", async () => {
  const { deleteDevices, completed } = guarded([["m.login.terms"]]);
  await assertRejects(
    () => deleteDevices([], { authentication: { acceptTerms: () => false } }),
    MatrixRequestError,
  );
  assertEquals(completed, []);
});

Deno.test("A stage of one's own goes before ours, and sends what it gives", async () => {
  const { deleteDevices, auths } = guarded([["org.example.card", "m.login.password"]]);
  await deleteDevices([], {
    authentication: {
      password: "p",
      stages: {
        "org.example.card": ({ stage, challenge }) => ({
          card: 7,
          stage,
          session: "not this",
          seen: challenge.completed,
        }),
        "m.login.password": () => Promise.resolve({ password: "other" }),
      },
    },
  });
  assertEquals(auths().slice(1), [
    { type: "org.example.card", session: "s1", card: 7, stage: "org.example.card", seen: [] },
    { type: "m.login.password", session: "s1", password: "other" },
  ]);
});

Deno.test("A fallback gets the page to show, and what was done there is then asked for by the session alone", async () => {
  const pages: string[] = [];
  const done = new Set<string>();
  const { session, requests } = scripted({
    [DELETE]: () =>
      done.size === 2 ? {} : Response.json({
        session: "s/1",
        flows: [{ stages: ["m.login.sso", "m.oauth"] }],
        params: { "m.oauth": { url: "https://auth.example.org/ok" } },
        completed: [...done],
      }, { status: 401 }),
  });
  await devicesAPI(session).deleteDevices([], {
    authentication: {
      fallback: ({ stage, fallbackUrl }) => {
        pages.push(fallbackUrl);
        done.add(stage);
      },
    },
  });
  assertEquals(pages, [
    "https://hs.example.org/_matrix/client/v3/auth/m.login.sso/fallback/web?session=s%2F1",
    "https://auth.example.org/ok",
  ]);
  assertEquals(requests.map(({ body }) => (body as { auth?: object }).auth), [undefined, { session: "s/1" }, {
    session: "s/1",
  }]);
});

Deno.test("A handler's failure, and an aborted signal, end the authentication", async () => {
  const failing = guarded([["m.login.sso"]]);
  const fallback = () => Promise.reject(new RangeError("window closed"));
  await assertRejects(
    () => failing.deleteDevices([], { authentication: { fallback } }),
    RangeError,
    "window closed",
  );
  const controller = new AbortController();
  const aborted = guarded([["m.login.dummy"]]);
  const stages = { "m.login.dummy": () => controller.abort(new RangeError("enough")) };
  await assertRejects(
    () => aborted.deleteDevices([], { authentication: { stages }, signal: controller.signal }),
    RangeError,
    "enough",
  );
  assertEquals([failing.requests.length, aborted.requests.length], [1, 1]);
});

Deno.test("A homeserver that wants ever new stages is obeyed a bounded number of times", async () => {
  let round = 0;
  const { session, requests } = scripted({
    [DELETE]: () =>
      Response.json({ session: "s", flows: [{ stages: [`org.example.${round++}`] }] }, { status: 401 }),
  });
  await assertRejects(
    () => devicesAPI(session).deleteDevices([], { authentication: { fallback: () => {} } }),
    MatrixRequestError,
  );
  assertEquals(requests.length, 11);
});

Deno.test("A challenge that makes no sense is a refusal like any other", async () => {
  for (
    const body of [{}, { flows: "all" }, {
      flows: [7, { stages: "x" }, { stages: [1] }],
      params: [],
      completed: 7,
    }]
  ) {
    const { session } = scripted({ [DELETE]: () => Response.json(body, { status: 401 }) });
    const deletion = () => devicesAPI(session).deleteDevices([], { authentication: { password: "p" } });
    await assertRejects(deletion, MatrixRequestError);
  }
});

Deno.test("Every operation that may need authentication runs it", async () => {
  const once: Rule = ({ body }) =>
    JSON.stringify(body).includes('"auth"')
      ? { user_id: "@carol:x", login_token: "t", expires_in_ms: 1, id_server_unbind_result: "success" }
      : refusal(401, "", {
        session: "s",
        flows: [{ stages: ["m.login.dummy"] }],
      });
  const { session, requests } = scripted({ "*": once });
  const options = { authentication: {} };
  const api = {
    ...devicesAPI(session),
    ...accountAPI(session),
    ...sessionAPI(session),
    ...deviceKeysAPI(session),
  };
  await api.deleteDevice("OLD", options);
  await api.deleteDevices(["OLD"], options);
  await api.changePassword("new", options);
  await api.uploadCrossSigningKeys(options);
  await api.getLoginToken(options);
  await api.register(options);
  await api.deactivateAccount(options);
  assertEquals(requests.length, 14);
});

Deno.test("withUia() authenticates any request", async () => {
  const { session } = scripted();
  const auths: unknown[] = [];
  const result = await uiaAPI(session).withUia((auth) => {
    auths.push(auth);
    if (auth !== undefined) return Promise.resolve("done");
    const body = { session: "s", flows: [{ stages: ["m.login.dummy"] }] };
    throw new MatrixRequestError({ operation: "own", method: "POST", path: "/own", status: 401, body });
  }, {});
  assertEquals([result, auths], ["done", [undefined, { type: "m.login.dummy", session: "s" }]]);
});
