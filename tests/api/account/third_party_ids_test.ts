import { assert, assertEquals, assertRejects } from "@std/assert";
import { thirdPartyIdsAPI } from "../../../src/api/account/third_party_ids.ts";
import { ThreepidAuthFailedError, ThreepidInUseError, ValueError } from "@greenroom/matrix/errors";
import { refusal, type Rule, scripted } from "../../support/scripted_fetch.ts";

const PATH = "/_matrix/client/v3/account/3pid";

function api(rules: Record<string, Rule>) {
  const { session, requests, body } = scripted(rules, { retry: false });
  return { ...thirdPartyIdsAPI(session), requests, body };
}

Deno.test("requestEmailToken() makes a secret, and returns what addThirdPartyId() takes", async () => {
  const { requestEmailToken, addThirdPartyId, requests, body } = api({
    [`POST ${PATH}/email/requestToken`]: { sid: "s1", submit_url: null },
    [`POST ${PATH}/add`]: {},
  });
  const validation = await requestEmailToken("a@b.org");
  assert(validation.client_secret.length >= 32);
  assertEquals(validation, { sid: "s1", client_secret: validation.client_secret });
  assertEquals(body(), { client_secret: validation.client_secret, email: "a@b.org", send_attempt: 1 });
  assert(!requests[0]?.headers.has("authorization"));
  await addThirdPartyId(validation);
  assertEquals(body(), validation);
});

Deno.test("requestEmailToken() makes no second secret for another attempt", async () => {
  const { requestEmailToken, body } = api({ [`POST ${PATH}/email/requestToken`]: { sid: "s1" } });
  const options = { clientSecret: "mine", sendAttempt: 2, nextLink: "https://b.org/done" };
  assertEquals(await requestEmailToken("a@b.org", options), { sid: "s1", client_secret: "mine" });
  assertEquals(body(), {
    client_secret: "mine",
    email: "a@b.org",
    send_attempt: 2,
    next_link: "https://b.org/done",
  });
  await assertRejects(() => requestEmailToken("a@b.org", { sendAttempt: -1 }), ValueError, "sendAttempt");
});

Deno.test("requestPhoneToken() says the country, and where the token is sent to", async () => {
  const submit_url = "https://b.org/submit";
  const { requestPhoneToken, body } = api({
    [`POST ${PATH}/msisdn/requestToken`]: { sid: "s2", submit_url },
  });
  const options = { country: "GB", clientSecret: "mine" };
  const validation = { sid: "s2", client_secret: "mine", submit_url };
  assertEquals(await requestPhoneToken("7700900123", options), validation);
  assertEquals(body(), {
    client_secret: "mine",
    phone_number: "7700900123",
    country: "GB",
    send_attempt: 1,
  });
});

Deno.test("addThirdPartyId() authenticates, and says why an address is not added", async () => {
  const challenge = { session: "uia", flows: [{ stages: ["m.login.password"] }] };
  const { addThirdPartyId, body } = api({
    [`POST ${PATH}/add`]: ({ body }) =>
      "auth" in (body as object) ? refusal(400, "M_THREEPID_AUTH_FAILED") : refusal(401, "", challenge),
  });
  const authentication = { password: "secret" };
  await assertRejects(
    () => addThirdPartyId({ sid: "s1", client_secret: "mine" }, { authentication }),
    ThreepidAuthFailedError,
  );
  assertEquals((body() as { auth: { type: string } }).auth.type, "m.login.password");
});

Deno.test("bindThirdPartyId(), unbindThirdPartyId() and removeThirdPartyId() name the identity server", async () => {
  const { bindThirdPartyId, unbindThirdPartyId, removeThirdPartyId, requests } = api({
    "*": { id_server_unbind_result: "no-support" },
    [`POST ${PATH}/delete`]: { id_server_unbind_result: "success" },
  });
  const address = { medium: "email", address: "a@b.org", added_at: 1, validated_at: 1 };
  await bindThirdPartyId({ sid: "s1", client_secret: "mine" }, { idServer: "id.org", idAccessToken: "t" });
  assertEquals(await unbindThirdPartyId(address), "no-support");
  assertEquals(await removeThirdPartyId(address, { idServer: "id.org" }), "success");
  assertEquals(requests.map(({ path, body }) => [path.slice(PATH.length), body]), [
    ["/bind", { sid: "s1", client_secret: "mine", id_server: "id.org", id_access_token: "t" }],
    ["/unbind", { medium: "email", address: "a@b.org" }],
    ["/delete", { medium: "email", address: "a@b.org", id_server: "id.org" }],
  ]);
});

Deno.test("requestEmailToken() says that an address is another account's", async () => {
  const { requestEmailToken } = api({ "*": refusal(400, "M_THREEPID_IN_USE") });
  await assertRejects(() => requestEmailToken("a@b.org"), ThreepidInUseError);
});

Deno.test("What is no address, validation or identity server is refused, and nothing is sent", async () => {
  const all = api({ "*": {} });
  const validation = { sid: "s1", client_secret: "mine" };
  const wrong: [call: () => Promise<unknown>, mend: string][] = [
    [() => all.requestEmailToken(undefined as never), "email must be a text"],
    [() => all.requestEmailToken("", { clientSecret: "mine" }), "email must be a text"],
    [() => all.requestEmailToken("a@b.org", { clientSecret: "" }), "clientSecret must be a text"],
    [() => all.requestPhoneToken("7700900123", undefined as never), "country must be a text"],
    [() => all.requestPhoneToken(7700900123 as never, { country: "GB" }), "phone_number must be a text"],
    [() => all.addThirdPartyId(undefined as never), "sid must be a text"],
    [() => all.addThirdPartyId({ sid: "s1" } as never), "client_secret must be a text"],
    [() => all.bindThirdPartyId(validation, undefined as never), "idServer must be a text"],
    [() => all.bindThirdPartyId(validation, { idServer: "id.org" } as never), "idAccessToken must be a text"],
    [() => all.unbindThirdPartyId("a@b.org" as never), "medium must be a text"],
    [() => all.removeThirdPartyId({ medium: "email" } as never), "address must be a text"],
  ];
  for (const [call, mend] of wrong) {
    const error = await assertRejects(call, ValueError, mend, `${call}`);
    assert(!error.message.includes("mine"));
  }
  assertEquals(all.requests, []);
});
