import { assertEquals, assertRejects } from "@std/assert";
import { profileAPI } from "../../../src/api/account/profile.ts";
import { ForbiddenError, NotFoundError, UnrecognizedError, ValueError } from "@greenroom/matrix/errors";
import type { ContentURI, UserID } from "@greenroom/matrix/types";
import { refusal, scripted } from "../../support/scripted_fetch.ts";

const BOB = "GET /_matrix/client/v3/profile/@bob:b.org";
const OWN = "/_matrix/client/v3/profile/@alice:example.org";
const VERSIONS = "GET /_matrix/client/versions";

Deno.test("getProfile() hands the whole profile out, and raises if there is none", async () => {
  const { session } = scripted({ [BOB]: { displayname: "Bob", "m.tz": "Europe/Paris" } });
  const api = profileAPI(session);
  assertEquals(await api.getProfile("@bob:b.org"), { displayname: "Bob", "m.tz": "Europe/Paris" });
  const gone = scripted({ [BOB]: refusal(404, "M_NOT_FOUND") });
  await assertRejects(() => profileAPI(gone.session).getProfile("@bob:b.org"), NotFoundError);
  const synapse = scripted({ "*": refusal(404, "M_UNKNOWN") });
  await assertRejects(() => profileAPI(synapse.session).getProfile("@bob:b.org"), NotFoundError);
  assertEquals(await profileAPI(synapse.session).getDisplayname("@bob:b.org"), undefined);
  const proxy = scripted({ "*": new Response("<html>", { status: 404 }) }, { checked: false });
  const error = await profileAPI(proxy.session).getProfile("@bob:b.org").catch((error) => error);
  assertEquals(error instanceof NotFoundError, false as boolean);
});

Deno.test("getDisplayname() and getAvatarUrl() return undefined if there is none", async () => {
  for (
    const [answer, name] of [
      [{ displayname: "Bob", avatar_url: "mxc://b.org/1" }, ["Bob", "mxc://b.org/1"]],
      [{}, [undefined, undefined]],
      [{ displayname: null, avatar_url: null }, [undefined, undefined]],
      [{ displayname: "", avatar_url: "" }, [undefined, undefined]],
      [refusal(404, "M_NOT_FOUND"), [undefined, undefined]],
    ] as const
  ) {
    const { session } = scripted({ [`${BOB}/displayname`]: answer, [`${BOB}/avatar_url`]: answer });
    const api = profileAPI(session);
    assertEquals([await api.getDisplayname("@bob:b.org"), await api.getAvatarUrl("@bob:b.org")], [...name]);
  }
});

Deno.test("getDisplayname() raises what is not M_NOT_FOUND, whatever its status", async () => {
  for (
    const [answer, Class] of [
      [refusal(403, "M_FORBIDDEN"), ForbiddenError],
      [refusal(404, "M_UNRECOGNIZED"), UnrecognizedError],
    ] as const
  ) {
    const { session } = scripted({ [`${BOB}/displayname`]: answer });
    await assertRejects(() => profileAPI(session).getDisplayname("@bob:b.org"), Class);
  }
});

for (
  const [operation, keyName, value] of [
    ["setDisplayname", "displayname", "Alice"],
    ["setAvatarUrl", "avatar_url", "mxc://example.org/1"],
  ] as const
) {
  const path = `${OWN}/${keyName}`;
  const set = (
    api: ReturnType<typeof profileAPI>,
    value: string | undefined,
    options?: { checkCurrent: boolean },
  ) => api[operation](value as ContentURI, options);

  Deno.test(`${operation}() looks first, and sets nothing if nothing would change`, async () => {
    const { session, log, body } = scripted({ [`GET ${path}`]: { [keyName]: value }, [`PUT ${path}`]: {} });
    const api = profileAPI(session);
    await set(api, value);
    assertEquals(log(), [`GET ${path}`]);
    await set(api, "mxc://example.org/2", { checkCurrent: true });
    assertEquals([log().at(-1), body()], [`PUT ${path}`, { [keyName]: "mxc://example.org/2" }]);
  });

  Deno.test(`${operation}() does not look if told so`, async () => {
    const { session, log } = scripted({ [`PUT ${path}`]: {} });
    await set(profileAPI(session), value, { checkCurrent: false });
    assertEquals(log(), [`PUT ${path}`]);
  });

  Deno.test(`${operation}() sets what was not there, or could not be looked at`, async () => {
    for (
      const [status, errcode] of [[404, "M_NOT_FOUND"], [403, "M_FORBIDDEN"], [502, "M_UNKNOWN"]] as const
    ) {
      const rules = { [`GET ${path}`]: refusal(status, errcode), [`PUT ${path}`]: {} };
      const { session, log } = scripted(rules, { retry: false });
      await set(profileAPI(session), value);
      assertEquals(log(), [`GET ${path}`, `PUT ${path}`]);
    }
  });

  Deno.test(`${operation}() takes the value away by DELETE, and by the empty text on servers before version 1.16`, async () => {
    for (
      const [versions, method] of [
        [{ versions: ["v1.16"] }, "DELETE"],
        [{ versions: ["v1.12"], unstable_features: { "uk.tcpip.msc4133.stable": true } }, "DELETE"],
        [{ versions: ["v1.15"] }, "PUT"],
      ] as const
    ) {
      for (const none of ["", undefined]) {
        const { session, log, body } = scripted({
          [`GET ${path}`]: { [keyName]: value },
          [VERSIONS]: versions,
          [`${method} ${path}`]: {},
        });
        await set(profileAPI(session), none);
        assertEquals(log(), [`GET ${path}`, VERSIONS, `${method} ${path}`]);
        assertEquals(body(), method === "PUT" ? { [keyName]: "" } : {});
      }
    }
    const none = scripted({ [`GET ${path}`]: { [keyName]: null } });
    await set(profileAPI(none.session), "");
    assertEquals(none.log(), [`GET ${path}`]);
  });
}

Deno.test("Fields of profiles are looked up, set and taken away by name", async () => {
  const { session, log, body } = scripted({
    [`${BOB}/m.tz`]: { "m.tz": "Europe/Paris" },
    [`PUT ${OWN}/m.tz`]: {},
    [`DELETE ${OWN}/m.tz`]: {},
  });
  const api = profileAPI(session);
  assertEquals(await api.getProfileField("@bob:b.org", "m.tz"), "Europe/Paris");
  await api.setProfileField("m.tz", "Asia/Tokyo");
  assertEquals(body(), { "m.tz": "Asia/Tokyo" });
  await api.deleteProfileField("m.tz");
  assertEquals(log().slice(1), [`PUT ${OWN}/m.tz`, `DELETE ${OWN}/m.tz`]);
  const odd = scripted({ [`${BOB}/toString`]: {} }, { checked: false });
  assertEquals(await profileAPI(odd.session).getProfileField("@bob:b.org", "toString"), undefined);
});

Deno.test("Own profile operations act for the user that the request acts for, in every request", async () => {
  const ghost = "/_matrix/client/v3/profile/@ghost:example.org/displayname";
  const { session, log, requests } = scripted({
    [`GET ${ghost}`]: { displayname: "Ghost" },
    [VERSIONS]: { versions: ["v1.16"] },
    [`DELETE ${ghost}`]: {},
  });
  const headers = { "x-trace": "1" };
  await profileAPI(session).setDisplayname("", { asUserId: "@ghost:example.org", headers });
  const query = "?user_id=%40ghost%3Aexample.org";
  assertEquals(log(), [`GET ${ghost}${query}`, `${VERSIONS}${query}`, `DELETE ${ghost}${query}`]);
  assertEquals(requests.map(({ headers }) => headers.get("x-trace")), ["1", "1", "1"]);
});

Deno.test("Operations on profiles refuse impossible parameters and send nothing", async () => {
  const { session, requests } = scripted();
  const api = profileAPI(session);
  for (const user of ["", "bob", "@bob"] as string[] as UserID[]) {
    await assertRejects(() => api.getProfile(user), ValueError, "userId");
    await assertRejects(() => api.getDisplayname(user), ValueError, "userId");
    await assertRejects(() => api.getAvatarUrl(user), ValueError, "userId");
  }
  await assertRejects(() => api.setAvatarUrl("https://example.org/1.png" as ContentURI), ValueError, "mxc");
  await assertRejects(() => api.setProfileField("m.tz", undefined), ValueError, "no value");
  await assertRejects(() => api.setProfileField("", 1), ValueError, "keyName");
  assertEquals(requests, []);
});
