import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { Sent } from "../../src/base/sent.ts";

const url = "https://hs.example/_matrix/client/v3/x";
const sent = (body: unknown = {}, query = "") =>
  new Sent({ url: url + query, json: JSON.stringify(body), credentials: () => ["syt_0123456789abcdef", ""] });

Deno.test("Sent.repeats() knows credentials in part, in any case, escaped and percent-encoded", () => {
  const login = sent({ password: 'p"4ss', auth: { token: "registration-token", session: "s1" } });
  for (
    const text of [
      "Bearer syt_0123456789abcdef",
      "…456789abcd…",
      "https://SYT_012345.example",
      "syt%5F0123456%37",
      'is p"4ss',
      String.raw`{"password":"p\"4ss"}`,
      String.raw`{\"p\\\"4ss`,
      String.raw`\u0072egistration`,
    ]
  ) assert(login.repeats(text), text);
  for (const text of ["syt_012 is unknown", "session s1", "M_FORBIDDEN", ""]) {
    assert(!login.repeats(text), text);
  }
});

Deno.test("Sent.repeats() recognizes longer texts of the body and the query, except what errors have to name", () => {
  const text = "Meet me at the stage door at nine";
  const message = sent({
    body: text,
    user_id: "@bob:example.org",
    "m.relates_to": { event_id: "$questionquestion" },
  });
  assert(message.repeats(`Can't send "${text.slice(3, 20)}"`));
  assert(sent({}, `?q=${encodeURIComponent(text)}&access_token=abcdefghi`).repeats("no abcdefgh here"));
  for (
    const answer of [
      "@bob:example.org is banned",
      "there is no $questionquestion",
      "Meet me",
      "m.room.message can't",
    ]
  ) assert(!message.repeats(answer), answer);
  const keys = {
    one_time_keys: { "signed_curve25519:AAAAHQ": { key: "KeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyK" } },
  };
  assert(!sent(keys).repeats("One time key already exists: KeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyK"));
});

Deno.test("Sent.shownBody() leaves out what repeats something, and nothing of the specification's", () => {
  const body = {
    errcode: "M_FORBIDDEN",
    error: "Wrong password",
    password: 1,
    flows: [{ stages: ["m.login.password", "org.example"] }],
    params: { "m.login.password": { policy: "at least 8 letters" }, "a password here": 1 },
    more: ["fine", "your password"],
  };
  const leftOut = "(left out: it repeats what was sent)";
  assertEquals(sent({ password: "password" }).shownBody(body), {
    ...body,
    error: leftOut,
    params: { "m.login.password": { policy: "at least 8 letters" } },
    more: ["fine", leftOut],
  });
  assertEquals(sent().shownBody(body), body);
});

Deno.test("Sent.shownBody() takes a body that is nested without end", () => {
  const deep = JSON.parse(`${'{"a":['.repeat(10_000)}${"]}".repeat(10_000)}`);
  assert(JSON.stringify(sent().shownBody(deep)).length < 200);
});

Deno.test("Sent.repeats() knows what a caller's headers hold", () => {
  const proxied = new Sent({ url, headers: { "x-proxy-token": "abcdefghijkl", "user-agent": "greenroom" } });
  assert(proxied.repeats("bad token cdefghij"));
  assert(!proxied.repeats("greenroom may not"));
});

Deno.test("Sent leaves out all that is said about what is too long to be looked for, and takes no time for it", () => {
  const long = sent({ body: "a long text ".repeat(1 << 20) });
  assert(long.repeats("anything"));
  const body = { errcode: "M_TOO_LARGE", error: "It is too large" };
  assertEquals(long.shownBody(body), { ...body, error: "(left out: it repeats what was sent)" });
  assert(!sent({ ciphertext: { body: "a long text ".repeat(1 << 20) } }).repeats("anything"));
});

Deno.test("Sent.shownError() returns an error as it is, unless it repeats what was sent", () => {
  const fine = new TypeError("connection refused", { cause: new Error("os error 111") });
  assertStrictEquals(sent().shownError(fine), fine);
  const told = new DOMException(`error sending request for url (${url}?q=1): refused`, "NetworkError");
  const shown = sent().shownError(told) as Error;
  assertEquals([shown.name, shown.message], [
    "NetworkError",
    `error sending request for url (${url}): refused`,
  ]);
  const deep = new Error("a", {
    cause: Object.assign(new Error("b"), { headers: { a: "Bearer syt_0123456789abcdef" } }),
  });
  assert(!Deno.inspect(sent().shownError(deep)).includes("syt_"));
});
