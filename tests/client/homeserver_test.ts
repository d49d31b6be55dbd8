import { assertEquals, assertThrows } from "@std/assert";
import { Client, HTTPAPI, ValueError } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { Homeserver } from "@greenroom/matrix/testing";

const FILE = { "m.homeserver": { base_url: "https://hs.example.org" } };

/** Answers as the domain `example.org` and its homeserver do, and notes what is asked for. */
function network(): { asked: string[]; fetch: typeof fetch } {
  const asked: string[] = [];
  return {
    asked,
    fetch: (input) => {
      const { origin, pathname } = new URL(input instanceof Request ? input.url : input);
      asked.push(origin + pathname);
      const body = pathname.endsWith("/client") ? FILE : { versions: ["v1.16"], user_id: "@bot:example.org" };
      return Promise.resolve(Response.json(body));
    },
  };
}

Deno.test("A client's homeserver is an address, or a server name whose domain says where it is", async () => {
  const [named, addressed] = [network(), network()];
  await using byName = new Client({ homeserver: "example.org", accessToken: "t", fetch: named.fetch });
  await byName.whoami();
  assertEquals(named.asked, [
    "https://example.org/.well-known/matrix/client",
    "https://hs.example.org/_matrix/client/versions",
    "https://hs.example.org/_matrix/client/v3/account/whoami",
  ]);
  await using byAddress = new Client({
    homeserver: "https://hs.example.org",
    accessToken: "t",
    fetch: addressed.fetch,
  });
  await byAddress.whoami();
  assertEquals(addressed.asked, ["https://hs.example.org/_matrix/client/v3/account/whoami"]);
});

Deno.test("A client's homeserver is said once, and can be one", () => {
  const api = new HTTPAPI({ baseUrl: "https://hs.example.org" });
  const wrong: [object, string][] = [
    [{ homeserver: "syt_token" }, "homeserver must be an address like"],
    [{ homeserver: "example.org", baseUrl: "https://hs.example.org" }, "both homeserver and baseUrl"],
    [{ homeserver: "example.org", api }, "both homeserver and api"],
    [{}, "it needs a homeserver; give it homeserver"],
  ];
  for (const [options, message] of wrong) {
    assertThrows(() => new Client(options), ValueError, message);
  }
});

Deno.test("An application service's homeserver is given as a bot's is", async () => {
  await using homeserver = new Homeserver();
  const { serverName, baseUrl, fetch } = homeserver;
  const registration = createRegistration({ id: "echo", url: "http://localhost:9000", serverName });
  await using appservice = new Appservice({ registration, serverName, homeserver: baseUrl, fetch });
  homeserver.addAppservice(registration, appservice.fetch);
  await appservice.ping();
  assertThrows(
    () => new Appservice({ registration, serverName }),
    ValueError,
    "it needs a homeserver; give it homeserver",
  );
});
