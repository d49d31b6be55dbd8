/** Logins by single sign-on, on a Synapse that leaves them to another server: one of CAS. */

import { assert, assertEquals } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { loginBySso } from "@greenroom/matrix/oauth";
import { Synapse } from "../../../tools/synapse.ts";
import { missing } from "../support/synapse.ts";

/** A server at which everybody is the same user, without a question. */
function casServer(user: string): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ url }) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname === "/login") {
      const back = new URL(searchParams.get("service") ?? "");
      back.searchParams.set("ticket", "ticket");
      return Response.redirect(back);
    }
    const space = "http://www.yale.edu/tp/cas";
    return new Response(
      `<cas:serviceResponse xmlns:cas="${space}"><cas:authenticationSuccess><cas:user>${user}</cas:user>` +
        `</cas:authenticationSuccess></cas:serviceResponse>`,
    );
  });
}

/** Opens a page as a browser does, and follows the link on it, as its reader does. */
async function browse(url: string): Promise<void> {
  const page = await (await fetch(url)).text();
  const [, link] = /href="([^"]*)" class="primary-button"/.exec(page) ?? [];
  assert(link !== undefined, page);
  await (await fetch(link.replaceAll("&amp;", "&"))).body?.cancel();
}

Deno.test({
  name: "A user logs in by single sign-on, and the first login registers the user",
  ignore: missing,
  async fn() {
    await using cas = casServer("alice");
    const server_url = `http://127.0.0.1:${cas.addr.port}`;
    await using synapse = await Synapse.start({ settings: { cas_config: { server_url } }, print() {} });
    const devices: string[] = [];
    for (let count = 0; count < 2; count++) {
      await using client = new Client({ baseUrl: synapse.baseUrl, log: false });
      const flows = await client.getLoginFlows();
      assert(flows.some(({ type }) => type === "m.login.sso"));
      await loginBySso(client, { deviceName: "Bot", onRedirectUrl: browse });
      assertEquals((await client.whoami()).user_id, "@alice:localhost");
      devices.push(...(await client.getDevices()).map(({ display_name }) => display_name ?? ""));
    }
    assertEquals(devices, ["Bot", "Bot", "Bot"]);
  },
});
