import { assertEquals } from "@std/assert";
import { synapseConfig } from "../../tools/synapse/config.ts";
import { ALONE, DELEGATING, EXCEPTIONS, FEDERATING } from "../../tools/synapse/exceptions.ts";

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

for (const kind of ["alone", "federating", "delegating"]) {
  const federates = kind === "federating";
  const isDelegating = kind === "delegating";
  Deno.test(`All that differs from Synapse's defaults is on the list of exceptions, ${kind}`, () => {
    const config = synapseConfig({
      folder: "/x",
      port: 1,
      serverName: "x",
      sharedSecret: "x",
      appservices: [],
      federates,
      oauth: isDelegating ? { issuer: "http://127.0.0.1:2/", secret: "x" } : undefined,
    });
    const exceptions = [
      ...EXCEPTIONS,
      federates ? FEDERATING : ALONE,
      ...(isDelegating ? [DELEGATING] : []),
    ];
    const listed = exceptions.flatMap(({ settings }) => Object.keys(settings));
    const own = isDelegating ? [...OWN, "matrix_authentication_service"] : OWN;
    assertEquals(Object.keys(config).toSorted(), [...new Set([...own, ...listed])].toSorted());
    assertEquals(listed.filter((name) => /cache|rc_message|rc_joins|rc_invites/.test(name)), []);
  });
}
