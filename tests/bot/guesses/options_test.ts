import { assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";

Deno.test("A bot's options by names of other libraries are refused with its own", () => {
  const homeserver = "https://matrix.example.org";
  for (
    const [more, text] of [
      [{ userId: "@bot:example.org" }, "no option userId; did you mean mxid?"],
      [{ user: "@bot:example.org" }, "no option user; did you mean mxid?"],
      [{ token: "secret" }, "no option token; did you mean accessToken?"],
      [{ homeserverUrl: homeserver }, "no option homeserverUrl; did you mean homeserver?"],
      [{ url: homeserver }, "no option url; did you mean homeserver?"],
      [{ session: { scope: "room" } }, "no option scope; write per"],
      [{ session: {} }, "initial must be a function that makes its first state"],
      [{ ignoreOwnMessages: true }, "write nothing: a bot does not hear itself"],
    ] as const
  ) assertThrows(() => new Bot({ homeserver, ...more } as BotOptions), ValueError, text);
});
