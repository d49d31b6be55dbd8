import { assert, assertEquals, assertRejects } from "@std/assert";
import { serverContactsAPI } from "../../../src/api/server/contacts.ts";
import { MatrixRequestError, NetworkError, ServiceResponseError, ValueError } from "@greenroom/matrix/errors";
import { HTTPAPI, Session } from "../../../src/api/http/mod.ts";

/** A client of a homeserver, in an internet that answers by address. */
function internet(answers: Record<string, () => Response>) {
  const asked: string[] = [];
  const tokens: (string | null)[] = [];
  const http = new HTTPAPI({
    baseUrl: "https://hs.example.org",
    accessToken: "secret",
    retry: false,
    log: false,
    fetch: (input, init) => {
      asked.push(String(input));
      tokens.push(new Headers(init?.headers).get("authorization"));
      return Promise.resolve(answers[String(input)]?.() ?? new Response("<html>", { status: 404 }));
    },
  });
  return { ...serverContactsAPI(new Session(http, "@alice:example.org")), asked, tokens };
}

const json = (body: unknown) => () => Response.json(body);
const SUPPORT = "https://example.org/.well-known/matrix/support";
const POLICY = "https://policy.example.org/.well-known/matrix/policy_server";
const KEY = "6yhHGKhCiXTSEN2ksjV7kX_N6rBQZ3Xb-M7LlC6NS-s";

Deno.test("getSupport() asks the user's domain, or another, and sends no token", async () => {
  const support = {
    contacts: [{ matrix_id: "@admin:example.org", email_address: "admin@example.org", role: "m.role.admin" }],
    support_page: "https://example.org/support.html",
  };
  const { getSupport, asked, tokens } = internet({ [SUPPORT]: json(support) });
  assertEquals(await getSupport() as unknown, support);
  assertEquals(await getSupport({ serverName: "other.org:8448" }), undefined);
  assertEquals(asked, [SUPPORT, "https://other.org/.well-known/matrix/support"]);
  assertEquals(tokens, [null, null]);
});

Deno.test("getSupport() leaves out what can't be a contact or a page", async () => {
  const role = "m.role.security";
  const { getSupport } = internet({
    [SUPPORT]: json({
      contacts: [
        { role },
        { matrix_id: "@a:example.org" },
        { matrix_id: "admin", role },
        { matrix_id: "@a:example.org", email_address: "a@b\nBcc: c@d", role },
        { email_address: "<script>@b.org", role },
        { email_address: `${"a".repeat(65)}@b.org`, role },
        { email_address: "a@b.org", role: "m.role\u202e" },
        { email_address: "a@b.org", role, extra: 1 },
        null,
        5,
      ],
      support_page: "javascript:alert(1)",
    }),
  });
  const found = await getSupport();
  assertEquals(found?.contacts.map(({ matrix_id, email_address }) => [matrix_id, email_address]), [
    ["@a:example.org", undefined],
    [undefined, "a@b.org"],
  ]);
  assertEquals(found?.support_page, undefined);
  assertEquals(await internet({ [SUPPORT]: json({}) }).getSupport(), { contacts: [] });
  const many = Array.from({ length: 500 }, () => ({ email_address: "a@b.org", role }));
  assertEquals((await internet({ [SUPPORT]: json({ contacts: many }) }).getSupport())?.contacts.length, 100);
});

Deno.test("getPolicyServer() returns the keys for m.room.policy", async () => {
  const { getPolicyServer, asked } = internet({
    [POLICY]: json({ public_keys: { ed25519: KEY, other: 5 } }),
  });
  assertEquals(await getPolicyServer("policy.example.org"), { public_keys: { ed25519: KEY } });
  assertEquals(await getPolicyServer("none.example.org"), undefined);
  assertEquals(asked[0], POLICY);
  for (const public_keys of [undefined, {}, { ed25519: "short" }, { ed25519: `${KEY}=` }, [KEY]]) {
    await assertRejects(
      () => internet({ [POLICY]: json({ public_keys }) }).getPolicyServer("policy.example.org"),
      ServiceResponseError,
      "public_keys",
    );
  }
});

Deno.test("What domains answer is bounded, and no redirect leads to plain http", async () => {
  const long = () => new Response(`{"contacts":[${" ".repeat(1 << 18)}]}`);
  await assertRejects(() => internet({ [SUPPORT]: long }).getSupport(), ServiceResponseError, "larger");
  await assertRejects(
    () => internet({ [SUPPORT]: () => new Response("<html>") }).getSupport(),
    ServiceResponseError,
  );
  await assertRejects(
    () => internet({ [SUPPORT]: () => new Response("", { status: 500 }) }).getSupport(),
    MatrixRequestError,
  );
  const plain = internet({ [SUPPORT]: () => Response.redirect("http://example.org/support") });
  const error = await assertRejects(() => plain.getSupport());
  assert(
    error instanceof NetworkError || error instanceof Error && /plain http/.test(`${error} ${error.cause}`),
  );
  assertEquals(plain.asked, [SUPPORT]);
});

Deno.test("getSupport() and getPolicyServer() refuse what is no server name, and ask nobody", async () => {
  const { getSupport, getPolicyServer, asked } = internet({});
  for (const name of ["", "a/b", "user@host", "a b", "http://example.org", 5, null] as never[]) {
    await assertRejects(() => getPolicyServer(name), ValueError, "getPolicyServer");
    if (name !== null) await assertRejects(() => getSupport({ serverName: name }), ValueError, "getSupport");
  }
  assertEquals(asked, []);
});

Deno.test("getSupport() and getPolicyServer() send a domain nothing of whom the client acts as", async () => {
  const { getSupport, getPolicyServer, asked } = internet({});
  const options = { asUserId: "@ghost:example.org", asDeviceId: "GHOST", query: { secret: "5" } } as const;
  await getSupport({ serverName: "example.org", ...options });
  await getPolicyServer("policy.example.org", options);
  assertEquals(asked, [SUPPORT, POLICY]);
});
