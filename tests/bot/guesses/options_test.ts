import { assert, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import { complaintsOf } from "../../types/compiler.ts";

Deno.test("The compiler says what the options of other libraries' bots are called", async () => {
  const said = await complaintsOf(`
    import { Bot } from "@greenroom/matrix/bot";
    const homeserver = "https://matrix.example.org";
    new Bot({ homeserver, token: "secret" });
    new Bot({ homeserver, userId: "@bot:example.org", password: "secret" });
    new Bot({ homeserverUrl: homeserver, accessToken: "secret" });
    Bot.fromEnv({ user: "@bot:example.org" });
  `);
  for (const name of ["accessToken", "mxid", "homeserver"]) {
    assert(said.includes(`WriteInstead<"${name}">`), `${name}: ${said}`);
  }
  assert(said.includes("Found 4 errors"), said);
});

Deno.test("A bot's options by names of other libraries are refused with its own", () => {
  const homeserver = "https://matrix.example.org";
  for (
    const [more, text] of [
      [{ userId: "@bot:example.org" }, "no option userId; did you mean mxid?"],
      [{ user: "@bot:example.org" }, "no option user; did you mean mxid?"],
      [{ token: "secret" }, "no option token; did you mean accessToken?"],
      [{ homeserverUrl: homeserver }, "no option homeserverUrl; did you mean homeserver?"],
      [{ url: homeserver }, "no option url; did you mean homeserver?"],
    ] as const
  ) assertThrows(() => new Bot({ homeserver, ...more } as BotOptions), ValueError, text);
});
