/**
 * The configuration of the Synapse that tests run against: open, fast, on loopback, and with
 * everything switched on that an operation of the client-server API needs.
 *
 * @module
 */

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
  /** How long an access token lives that came with a refresh token: a number and a unit, `"5m"`. */
  refreshableAccessTokenLifetime: string;
}

const unlimited = { per_second: 1_000_000, burst_count: 1_000_000 };

/** The configuration as an object: JSON is YAML, so that it needs no writer of its own. */
export function synapseConfig(options: SynapseConfigOptions): Record<string, unknown> {
  const { folder, port, serverName, sharedSecret } = options;
  return {
    server_name: serverName,
    public_baseurl: `http://127.0.0.1:${port}/`,
    listeners: [{
      port,
      bind_addresses: ["127.0.0.1"],
      type: "http",
      tls: false,
      resources: [{ names: ["client"] }],
    }],
    database: { name: "sqlite3", args: { database: `${folder}/homeserver.db` } },
    log_config: `${folder}/log.json`,
    media_store_path: `${folder}/media`,
    signing_key: `ed25519 a_test ${randomSecret(32)}`,
    macaroon_secret_key: randomSecret(32),
    form_secret: randomSecret(32),
    trusted_key_servers: [],
    federation_domain_whitelist: [],
    suppress_key_server_warning: true,
    report_stats: false,

    enable_registration: true,
    enable_registration_without_verification: true,
    registration_shared_secret: sharedSecret,
    bcrypt_rounds: 4,
    allow_guest_access: true,
    login_via_existing_session: { enabled: true, require_ui_auth: false },
    refreshable_access_token_lifetime: options.refreshableAccessTokenLifetime,
    refresh_token_lifetime: "24h",

    presence: { enabled: true },
    user_directory: { enabled: true, search_all_users: true },
    allow_public_rooms_without_auth: true,
    room_list_publication_rules: [{ action: "allow" }],
    alias_creation_rules: [{ action: "allow" }],
    server_notices: { system_mxid_localpart: "notices", room_name: "Server notices" },
    turn_uris: ["turn:127.0.0.1?transport=udp"],
    turn_shared_secret: randomSecret(16),
    turn_user_lifetime: "1h",

    caches: { sync_response_cache_duration: "0s" }, // a test that syncs twice wants to see what happened in between

    enable_authenticated_media: true,
    max_upload_size: "600M",
    url_preview_enabled: true,
    url_preview_ip_range_blacklist: [],
    ip_range_whitelist: ["127.0.0.1"], // pushers wake bots on this machine

    experimental_features: {
      msc3391_enabled: true, // account data is deleted
      msc3814_enabled: true, // dehydrated devices
      msc4133_enabled: true, // profile fields
      msc4222_enabled: true, // state_after in sync responses
    },

    rc_message: unlimited,
    rc_registration: unlimited,
    rc_registration_token_validity: unlimited,
    rc_login: { address: unlimited, account: unlimited, failed_attempts: unlimited },
    rc_admin_redaction: unlimited,
    rc_joins: { local: unlimited, remote: unlimited },
    rc_joins_per_room: unlimited,
    rc_key_requests: unlimited,
    rc_3pid_validation: unlimited,
    rc_invites: { per_room: unlimited, per_user: unlimited, per_issuer: unlimited },
    rc_third_party_invite: unlimited,
    rc_media_create: unlimited,
    rc_presence: { per_user: unlimited },
    rc_delayed_event_mgmt: unlimited,
    rc_room_creation: unlimited,
    rc_reports: unlimited,
    rc_user_directory: unlimited,
    rc_profile: unlimited,
  };
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
