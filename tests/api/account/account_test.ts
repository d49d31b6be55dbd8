import { assertEquals, assertRejects } from "@std/assert";
import { accountAPI } from "../../../src/api/account/account.ts";
import { LimitExceededError, ServiceResponseError } from "@greenroom/matrix/errors";
import { refusal, scripted } from "../../support/scripted_fetch.ts";

Deno.test("register() makes the client the new session, unless there is none or it is not to be stored", async () => {
  const REGISTER = "POST /_matrix/client/v3/register";
  const carol = { user_id: "@carol:x", access_token: "carols", device_id: "C" };
  const cases: [object, object, [string, string]][] = [
    [carol, {}, ["@carol:x", "carols"]],
    [carol, { storeAccessToken: false }, ["@alice:example.org", "secret"]],
    [{ user_id: "@carol:x" }, { inhibitLogin: true }, ["@alice:example.org", "secret"]],
  ];
  for (const [answer, options, expected] of cases) {
    const { session, requests } = scripted({ [REGISTER]: answer });
    assertEquals((await accountAPI(session).register(options)).user_id, "@carol:x");
    assertEquals([session.mxid, session.http.accessToken], expected);
    assertEquals(requests[0]?.headers.get("authorization"), null);
  }
  const { session, body, requests } = scripted({ [REGISTER]: carol });
  await accountAPI(session).register({
    kind: "guest",
    username: "carol",
    password: "p",
    deviceId: "C",
    deviceName: "Phone",
    withRefreshToken: true,
  });
  assertEquals([requests[0]?.query, body()], ["kind=guest", {
    username: "carol",
    password: "p",
    device_id: "C",
    initial_device_display_name: "Phone",
    refresh_token: true,
  }]);
});

Deno.test("isUsernameAvailable() takes a refusal of the name for no, and any other as it is", async () => {
  const AVAILABLE = "GET /_matrix/client/v3/register/available";
  const ask = (answer: object) =>
    accountAPI(scripted({ [AVAILABLE]: answer }, { retry: false }).session).isUsernameAvailable("a&b");
  const yes = await ask({ available: true });
  const no = await Promise.all(
    ["M_USER_IN_USE", "M_INVALID_USERNAME", "M_EXCLUSIVE"].map((code) => ask(refusal(400, code))),
  );
  assertEquals([yes, ...no], [true, false, false, false]);
  await assertRejects(() => ask(refusal(429, "M_LIMIT_EXCEEDED")), LimitExceededError);
  await assertRejects(() => ask({}), ServiceResponseError);
});

Deno.test("deactivateAccount() takes an answer that says nothing: the account is gone all the same", async () => {
  const { session } = scripted({ "POST /_matrix/client/v3/account/deactivate": {} });
  assertEquals(await accountAPI(session).deactivateAccount(), "no-support");
  assertEquals(session.http.accessToken, "");
});

Deno.test("changePassword() logs other devices out by default; deactivateAccount() clears the token", async () => {
  const { session, body } = scripted({
    "POST /_matrix/client/v3/account/password": {},
    "POST /_matrix/client/v3/account/deactivate": { id_server_unbind_result: "no-support" },
    "GET /_matrix/client/v3/account/3pid": {},
  });
  const api = accountAPI(session);
  await api.changePassword("new");
  assertEquals(body(), { new_password: "new", logout_devices: true });
  await api.changePassword("new", { logoutDevices: false });
  assertEquals(body(), { new_password: "new", logout_devices: false });
  assertEquals(await api.getThirdPartyIds(), []);
  assertEquals(await api.deactivateAccount({ erase: true, clearAccessToken: false }), "no-support");
  assertEquals([body(), session.http.accessToken], [{ erase: true }, "secret"]);
  await api.deactivateAccount();
  assertEquals([body(), session.http.accessToken], [{}, ""]);
});
