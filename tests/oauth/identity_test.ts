import { assertEquals, assertRejects } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { AuthenticationNeededError } from "@greenroom/matrix/errors";
import { devicesAPI } from "../../src/api/account/account.ts";
import type { StageRequest } from "@greenroom/matrix/types";
import { scripted } from "../support/scripted_fetch.ts";
import { Stage } from "./stage.ts";

const BOT = "@bot:localhost";

Deno.test("A first identity needs no page, and another in its place the one of the account management", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  const { fetch, clock, store } = stage.options;
  const encryption = { onRecoveryKey() {} };
  const options = { ...session.clientOptions, fetch, clock, store, encryption, log: false } as const;
  await using client = new Client(options);
  const { crypto } = client;
  assertEquals((await stage.until(crypto?.ensureVerified() ?? Promise.reject(), 10))?.state, "bootstrapped");
  const reset = (fallback?: (request: { fallbackUrl: string }) => void) =>
    stage.until(
      crypto?.resetIdentity({
        ...encryption,
        confirm: () => true,
        ...(fallback && { authentication: { fallback } }),
      }) ?? Promise.reject(),
      10,
    );
  await assertRejects(() => reset(), AuthenticationNeededError, "m.oauth");
  const pages: string[] = [];
  const report = await reset(({ fallbackUrl }) => {
    pages.push(fallbackUrl);
    stage.homeserver.oauth.allowCrossSigningReset(BOT);
  });
  assertEquals(report.state, "reset");
  assertEquals(pages, ["https://localhost/account/?action=org.matrix.cross_signing_reset"]);
});

Deno.test("The page of an account management has the name from before the specification too, and is a web page", async () => {
  const own =
    "https://hs.example.org/_matrix/client/v3/auth/org.matrix.cross_signing_reset/fallback/web?session=s1";
  for (
    const [url, shown] of [
      ["https://auth.example.org/reset", "https://auth.example.org/reset"],
      ["javascript:alert(1)", own],
      [{ href: "https://auth.example.org/" }, own],
    ] as const
  ) {
    const pages: string[] = [];
    const { session } = scripted({
      "POST /_matrix/client/v3/delete_devices": () =>
        pages.length === 1 ? {} : Response.json({
          session: "s1",
          flows: [{ stages: ["org.matrix.cross_signing_reset"] }],
          params: { "org.matrix.cross_signing_reset": { url } },
        }, { status: 401 }),
    });
    const fallback = ({ fallbackUrl }: StageRequest) => void pages.push(fallbackUrl);
    await devicesAPI(session).deleteDevices([], { authentication: { fallback } });
    assertEquals(pages, [shown]);
  }
});
