/**
 * `@greenroom/matrix/appservice`: application services, for bridges and for bots of a homeserver.
 *
 * {@linkcode Appservice} is where to begin: the homeserver sends it what happens, its handlers get
 * it, and {@linkcode Appservice.intent} acts as any of its users.
 *
 * @example
 * ```ts
 * import { Appservice, parseRegistration } from "@greenroom/matrix/appservice";
 *
 * const registration = parseRegistration(`
 * id: echo
 * url: http://localhost:9000
 * as_token: a-secret
 * hs_token: another-secret
 * sender_localpart: echo
 * namespaces:
 *   users: [{ regex: "@_echo_.*", exclusive: true }]
 * `);
 * const appservice = new Appservice({
 *   registration,
 *   serverName: "example.org",
 *   baseUrl: "https://matrix.example.org",
 * });
 * console.assert(appservice.intent("_echo_parrot").userId === "@_echo_parrot:example.org");
 * await appservice.close();
 * ```
 *
 * @module
 */

import { callSite, endOwnCode } from "../base/own_code.ts"; // first: bundles begin with it

export { Appservice } from "./appservice.ts";
/** {@linkcode Appservice}, as it is often written. */
export { Appservice as AppService } from "./appservice.ts";
export type {
  AppserviceOptionHints,
  AppserviceOptions,
  AppserviceStartOptions,
  GhostProfile,
  QueryHandlers,
  ThirdPartyHandlers,
} from "./appservice_options.ts";
export { Intent } from "./intent.ts";
export { AppservicePingError } from "./registration.ts";
export {
  createRegistration,
  type CreateRegistrationOptions,
  type Namespace,
  type Namespaces,
  parseRegistration,
  type Registration,
  registrationToYaml,
} from "./registration.ts";

endOwnCode(() => callSite());
