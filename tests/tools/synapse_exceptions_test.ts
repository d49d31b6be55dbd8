import { assertEquals } from "@std/assert";
import { synapseConfig } from "../../tools/synapse/config.ts";
import { ALONE, EXCEPTIONS, FEDERATING } from "../../tools/synapse/exceptions.ts";

/** What each server has to choose, and what is to be said of it: nothing of how it behaves. */
const OWN = [
  "server_name",
  "public_baseurl",
  "listeners",
  "database",
  "log_config",
  "media_store_path",
  "signing_key",
  "macaroon_secret_key",
  "form_secret",
  "registration_shared_secret",
  "app_service_config_files",
  "suppress_key_server_warning",
  "report_stats",
];

for (const federates of [false, true]) {
  Deno.test(`All that differs from Synapse's defaults is on the list of exceptions, ${federates ? "federating" : "alone"}`, () => {
    const config = synapseConfig({
      folder: "/x",
      port: 1,
      serverName: "x",
      sharedSecret: "x",
      appservices: [],
      federates,
    });
    const listed = [...EXCEPTIONS, federates ? FEDERATING : ALONE].flatMap(({ settings }) =>
      Object.keys(settings)
    );
    assertEquals(Object.keys(config).toSorted(), [...new Set([...OWN, ...listed])].toSorted());
    assertEquals(listed.filter((name) => /cache|rc_message|rc_joins|rc_invites/.test(name)), []);
  });
}
