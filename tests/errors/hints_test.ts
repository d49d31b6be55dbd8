import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { Bot } from "@greenroom/matrix/bot";
import { LimitExceededError } from "@greenroom/matrix/errors";
import { BotTester, Homeserver } from "@greenroom/matrix/testing";
import { APPSERVICE_HINTS } from "../../src/appservice/appservice_options.ts";
import {
  BOT_TESTER_HINTS,
  HOMESERVER_HINTS,
  TEST_ROOM_HINTS,
  TEST_USER_HINTS,
} from "../../src/testing/testing_hints.ts";

const SERVICE = {
  registration: createRegistration({ id: "irc", url: "http://localhost:9000", serverName: "localhost" }),
  serverName: "localhost",
  baseUrl: "https://localhost",
};

function assertHints(of: object, hints: Readonly<Record<string, string>>): void {
  for (const [name, here] of Object.entries(hints)) {
    const read = () => (of as Record<string, unknown>)[name];
    assertThrows(read, ValueError, `has no such member; write ${here}`);
  }
}

Deno.test("An application service, and what tests use, say what to write for members of other libraries", async () => {
  await using homeserver = new Homeserver();
  await using appservice = new Appservice(SERVICE);
  await using tester = new BotTester((options) => new Bot(options));
  assertHints(appservice, APPSERVICE_HINTS);
  assertHints(homeserver, HOMESERVER_HINTS);
  assertHints(Homeserver, { start: "new Homeserver()" });
  assertHints(Appservice, { generateRegistration: "createRegistration({ id, url, serverName })" });
  assertHints(homeserver.createUser("alice"), TEST_USER_HINTS);
  assertHints(tester, BOT_TESTER_HINTS);
  assertHints(await tester.room("alice"), TEST_ROOM_HINTS);
});

Deno.test("An error that says how long to wait names that member, and is printed and copied as without", () => {
  const init = { operation: "sync", method: "GET", path: "/sync", status: 429, body: {}, retryAfter: 5 };
  const error = new LimitExceededError(init);
  assertHints(error, { retryAfterMs: "error.retryAfter", retry_after_ms: "error.retryAfter" });
  assertEquals({ ...error }, { ...new LimitExceededError(init) });
  assert(Deno.inspect(error).includes("retryAfter: 5"));
});

Deno.test("What is made with hints is compared and copied as without", () => {
  const made = new Homeserver().createUser("alice", { password: "a", deviceId: "A" });
  const { accessToken } = made;
  assertEquals(
    { ...made },
    { userId: "@alice:localhost", deviceId: "A", accessToken, password: "a" } as never,
  );
  assertEquals(structuredClone(made), { ...made } as never);
});

Deno.test("An application service says whom it may act as, and where start() takes its port", async () => {
  await using appservice = new Appservice(SERVICE);
  assertThrows(
    () => appservice.intent("irc_bob"),
    ValueError,
    "Cannot act as @irc_bob:localhost: the registration's namespaces of users are @_irc_.*:localhost, on localhost; did you mean _irc_bob?",
  );
  assertThrows(() => appservice.intent("bob"), ValueError, "did you mean _irc_bob?");
  assertThrows(() => appservice.intent("@bob:elsewhere"), ValueError, "name a user of these");
  const started = appservice.start(9_000 as never);
  assertEquals(
    await started.catch(({ message }) => message),
    "Cannot start: a number is no options; write start({ port: 9000 })",
  );
});

Deno.test("close() of the homeserver and of a tester ends both, as leaving their block does", async () => {
  const homeserver = new Homeserver();
  const fetch = () => homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/versions`);
  assert((await (await fetch()).json()).versions.length > 0);
  await homeserver.close();
  assertEquals(await fetch().then(() => "answered", () => "refused"), "refused");
  const tester = new BotTester((options) => new Bot(options));
  await tester.start();
  await tester.close();
});
