import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Place } from "../../cli/support/greenroom.ts";
import { missing } from "../support/synapse.ts";
import { atTerminal } from "./support/desk.ts";
import { scanned } from "./support/scanner.ts";
import type { TerminalProcess } from "./support/terminal.ts";

function login(place: Place, columns: number, ...more: readonly string[]): TerminalProcess {
  return atTerminal(["login", ...more, `--homeserver=${place.url}`], { cwd: place.folder, columns });
}

Deno.test({
  name: "At a terminal that is wide enough, a login by OAuth 2.0 shows its page as a QR code too",
  ignore: missing,
  async fn() {
    await using place = await Place.make({ oauth: { interval: 1_000 } });
    await place.makeBot();
    for (const columns of [80, 20]) {
      await using terminal = login(place, columns, ...columns === 20 ? ["--again"] : []);
      await terminal.expect("The code is ");
      await terminal.expect("\n");
      const [, code = ""] = /The code is (\S+)/.exec(terminal.shown) ?? [];
      if (columns === 80) {
        const page = new TextDecoder().decode(scanned(terminal.shown));
        assert(page.startsWith(`${place.url}/`), page);
        assertStringIncludes(page, code);
      } else assert(!terminal.shown.includes("█"), terminal.shown);
      place.homeserver.oauth.approve(code, place.bot.userId);
      assertEquals(await terminal.ended(), 0, terminal.shown);
    }
  },
});
