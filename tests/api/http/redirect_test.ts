/** Redirects: which are followed, and what goes with them. */

import { assertEquals, assertRejects } from "@std/assert";
import { MatrixError, MissingTokenError, RedirectError } from "@greenroom/matrix/errors";
import { tokenOf } from "../../support/expiring.ts";
import { scripted } from "../../support/scripted_fetch.ts";

Deno.test("A redirect of a GET is followed: with the token on the same server, and without it anywhere else", async () => {
  const to = (location: string) => () => new Response(null, { status: 307, headers: { location } });
  const { session: { http }, requests } = scripted({
    "GET /same": to("/there?x=1"),
    "GET /there": to("https://cdn.example.org/file"),
    "GET /file": to("https://hs.example.org/back"),
    "GET /back": { done: true },
  });
  assertEquals(await http.request("GET", "/same"), { done: true });
  assertEquals(requests.map((request) => [request.path, tokenOf(request)]), [
    ["/same", "Bearer secret"],
    ["/there", "Bearer secret"],
    ["/file", null],
    ["/back", null], // a server that redirected here must not cause it to be sent
  ]);
});

Deno.test("A redirect to plain http, or to another port, counts as another server", async () => {
  for (const location of ["http://hs.example.org/there", "https://hs.example.org:8448/there"]) {
    const { session: { http }, requests } = scripted({
      "GET /x": new Response(null, { status: 302, headers: { location } }),
      "GET /there": {},
    });
    await http.request("GET", "/x");
    assertEquals(requests.map(tokenOf), ["Bearer secret", null]);
  }
});

Deno.test("That another server refuses a request without the token is told as the redirect that led there", async () => {
  const routes = {
    "GET /x": new Response(null, { status: 302, headers: { location: "https://other.example.org/there" } }),
    "GET /there": Response.json({ errcode: "M_MISSING_TOKEN" }, { status: 401 }),
  };
  const { session: { http } } = scripted(routes);
  await assertRejects(() => http.request("GET", "/x"), RedirectError, "other.example.org");
  const { session: { http: without } } = scripted(routes, { accessToken: "" });
  await assertRejects(() => without.request("GET", "/x"), MissingTokenError);
});

Deno.test("An answer is a redirect if its status says so, and it names a place", async () => {
  for (const status of [300, 399]) {
    const moved = new Response(null, { status, headers: { location: "/there" } });
    const { session: { http } } = scripted({ "GET /x": moved, "GET /there": { done: true } });
    assertEquals(await http.request("GET", "/x"), { done: true });
  }
  const made = new Response("{}", { status: 201, headers: { location: "/there" } });
  const { session: { http }, requests } = scripted({ "GET /x": made });
  assertEquals([await http.request("GET", "/x"), requests.length], [{}, 1]);
  for (const [status, headers] of [[400, { location: "/there" }], [307, {}]] as const) {
    const { session: { http }, requests } = scripted({
      "GET /x": new Response(null, { status, headers }),
      "GET /there": { done: true },
    });
    await assertRejects(() => http.request("GET", "/x"), MatrixError);
    assertEquals(requests.length, 1);
  }
});

Deno.test("The error of a redirect that is not followed says where it leads, but not if that repeats a secret", async () => {
  for (
    const [location, origin] of [
      ["https://new.example.org/matrix/x", "https://new.example.org/matrix"],
      ["https://new.example.org/login", "https://new.example.org"],
      ["https://new.example.org/secret/x", undefined],
    ] as const
  ) {
    const { session: { http } } = scripted({
      "PUT /x": new Response(null, { status: 308, headers: { location } }),
    });
    const error = await assertRejects(() => http.request("PUT", "/x"), RedirectError);
    assertEquals(error.origin, origin);
  }
});
