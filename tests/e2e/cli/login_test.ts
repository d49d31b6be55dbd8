import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ENTRY, Place, plainEnv } from "../../cli/support/greenroom.ts";
import { missing } from "../support/synapse.ts";
import { scanned } from "./support/scanner.ts";
import { TerminalProcess } from "./support/terminal.ts";

function login(place: Place, columns: number, ...more: readonly string[]): TerminalProcess {
  const program = [Deno.execPath(), "run", "-A", "--no-check", "--quiet", ENTRY, "login", ...more];
  const env = { ...plainEnv(), NO_COLOR: "1", TERM: "xterm" };
  return new TerminalProcess([...program, `--homeserver=${place.url}`], { cwd: place.folder, env, columns });
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
