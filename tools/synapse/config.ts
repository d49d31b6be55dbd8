/**
 * The configuration of the Synapse that tests run against: as Synapse is by default, but for what
 * `exceptions.ts` lists. Beside that it has only what each server has to choose: its name, address, keys
 * and folders.
 *
 * @module
 */

import { ALONE, DELEGATING, EXCEPTIONS, FEDERATING } from "./exceptions.ts";

/** Where a Synapse for tests lives. */
export interface SynapseConfigOptions {
  /** An empty folder for its database, media and log. */
  folder: string;
  /** The loopback port that it listens on. */
  port: number;
  /** The name in its user IDs. */
  serverName: string;
  /** What it takes to register users, administrators too. */
  sharedSecret: string;
  /**
   * How long an access token lives that came with a refresh token, a number and a unit: `"5m"`. Default: as
   * `exceptions.ts` says.
   */
  refreshableAccessTokenLifetime?: string | undefined;
  /** The files with the registrations of its application services. */
  appservices: readonly string[];
  /** Whether it talks with other homeservers, on this machine. */
  federates: boolean;
  /** Proposals that are on beside what `exceptions.ts` lists. Default: none. */
  proposals?: readonly string[];
  /** What else differs. Default: nothing. */
  settings?: Readonly<Record<string, unknown>> | undefined;
  /** Where its users log in. Default: at Synapse itself. */
  oauth?: { readonly issuer: string; readonly secret: string } | undefined;
}

/** The configuration as an object: JSON is YAML, so that it needs no writer of its own. */
export function synapseConfig(options: SynapseConfigOptions): Record<string, unknown> {
  const { folder, port, serverName, sharedSecret, refreshableAccessTokenLifetime, appservices } = options;
  const { federates, proposals = [], settings: more = {}, oauth } = options;
  const config: Record<string, unknown> = {
    server_name: serverName,
    public_baseurl: `http://127.0.0.1:${port}/`,
    listeners: [{
      port,
      bind_addresses: ["127.0.0.1"],
      type: "http",
      tls: false,
      resources: [{ names: federates ? ["client", "federation"] : ["client"] }],
    }],
    database: { name: "sqlite3", args: { database: `${folder}/homeserver.db` } },
    log_config: `${folder}/log.json`,
    media_store_path: `${folder}/media`,
    signing_key: `ed25519 a_test ${randomSecret(32)}`,
    macaroon_secret_key: randomSecret(32),
    form_secret: randomSecret(32),
    registration_shared_secret: sharedSecret,
    app_service_config_files: appservices,
    suppress_key_server_warning: true,
    report_stats: false,
    ...(oauth !== undefined && {
      matrix_authentication_service: { enabled: true, endpoint: oauth.issuer, secret: oauth.secret },
    }),
  };
  const exceptions = [
    ...EXCEPTIONS,
    federates ? FEDERATING : ALONE,
    ...(oauth === undefined ? [] : [DELEGATING]),
    { settings: { experimental_features: Object.fromEntries(proposals.map((name) => [name, true])) } },
    { settings: more },
  ];
  for (const { settings } of exceptions) {
    for (const [name, value] of Object.entries(settings)) {
      config[name] = isObject(value) ? { ...config[name] as object, ...value } : value;
    }
  }
  const lifetime = refreshableAccessTokenLifetime;
  return { ...config, ...(lifetime !== undefined && { refreshable_access_token_lifetime: lifetime }) };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * What Synapse writes to its log: what went wrong, to the standard error that its launcher sends to
 * a file.
 */
export const synapseLogConfig: Record<string, unknown> = {
  version: 1,
  formatters: { plain: { format: "%(asctime)s %(levelname)s %(name)s: %(message)s" } },
  handlers: { console: { class: "logging.StreamHandler", formatter: "plain" } },
  root: { level: "WARNING", handlers: ["console"] },
  disable_existing_loggers: false,
};

/** Random bytes as unpadded base64. */
export function randomSecret(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toBase64({ omitPadding: true });
}
