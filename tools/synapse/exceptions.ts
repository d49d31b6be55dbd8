/**
 * All that is not as Synapse has it by default, where tests run, and why.
 *
 * Caches, rate limits and experimental features are what people's own servers have, since what is
 * lost or repeated there has to be so here. Beside these settings, its database does not wait for the disk
 * (`launch.py`): that is what most of its time went to.
 *
 * @module
 */

/** A setting of every Synapse that tests start. */
export interface Exception {
  /** The settings, as they stand in Synapse's configuration. */
  readonly settings: Record<string, unknown>;
  /** What needs them. */
  readonly why: string;
}

const UNLIMITED = { per_second: 1_000_000, burst_count: 1_000_000 };

/** The settings of every Synapse that tests start which are not Synapse's defaults. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    settings: { enable_registration: true, enable_registration_without_verification: true },
    why: "The operations that register users.",
  },
  {
    settings: { rc_registration: UNLIMITED, rc_login: { address: UNLIMITED, account: UNLIMITED } },
    why: "Hundreds of users come from one address, and a hundred devices of one account log in at once.",
  },
  {
    settings: { refreshable_access_token_lifetime: "8s" },
    why: "Tokens that come with a refresh token end while a test waits, and others last.",
  },
  { settings: { bcrypt_rounds: 4 }, why: "A password of each user would take a third of a second." },
  { settings: { allow_guest_access: true }, why: "The operation that registers guests." },
  {
    settings: { login_via_existing_session: { enabled: true, require_ui_auth: false } },
    why: "The operation that gets a login token.",
  },
  {
    settings: { room_list_publication_rules: [{ action: "allow" }] },
    why: "The operations with the directory of rooms: nobody may publish a room by default.",
  },
  {
    settings: { server_notices: { system_mxid_localpart: "notices", room_name: "Server notices" } },
    why: "A bot hears notices of its server, and does not leave their room.",
  },
  {
    settings: { turn_uris: ["turn:127.0.0.1?transport=udp"], turn_shared_secret: "secret" },
    why: "The operation that gets TURN servers.",
  },
  {
    settings: { max_upload_size: "600M" },
    why: "Files that do not fit into memory are uploaded as streams.",
  },
  {
    settings: { url_preview_enabled: true, url_preview_ip_range_blacklist: [] },
    why: "The operation that previews a page, which is on this machine.",
  },
  { settings: { ip_range_whitelist: ["127.0.0.1"] }, why: "Pushers wake bots on this machine." },
  { settings: { experimental_features: { msc3814_enabled: true } }, why: "Dehydrated devices." },
  { settings: { max_event_delay_duration: "24h" }, why: "The operations with events that are sent later." },
  {
    settings: {
      experimental_features: {
        msc2409_to_device_messages_enabled: true,
        msc3202_transaction_extensions: true,
      },
    },
    why: "Application services that encrypt: Synapse sends them no keys without.",
  },
];

/** The settings of those that talk with no other server, which are all but those of a few tests. */
export const ALONE: Exception = {
  settings: { federation_domain_whitelist: [], trusted_key_servers: [] },
  why: "Tests ask nothing of the internet.",
};

/** The settings of those that talk with the homeserver of a test. */
export const FEDERATING: Exception = {
  settings: {
    federation_verify_certificates: false,
    federation_ip_range_blacklist: [],
    trusted_key_servers: [],
  },
  why: "The other homeserver is on this machine, and signs its certificate itself.",
};

/** The settings of those whose users log in at an authorization server, beside its address and secret. */
export const DELEGATING: Exception = {
  settings: {
    password_config: { enabled: false },
    enable_registration: false,
    enable_registration_without_verification: false,
    login_via_existing_session: { enabled: false },
    enable_3pid_changes: false,
  },
  why: "Synapse starts with an authorization server only where nobody can log in otherwise.",
};

/** The users that have no rate limits, and why. `newUser()` of the tests takes the reason's name. */
export const UNLIMITED_USERS = {
  people: "People in tests say in seconds what takes people minutes: limits are what bots meet.",
  present: "Who changes its presence twice within ten seconds: of some, the second is lost in silence.",
  compared: "Sequences of the twin are played at once, and the in-process homeserver has no limits then.",
  measured: "Bots that are killed or measured hundreds of times: limits would make that last hours.",
  talkative: "Stories in which a bot says more than ten things at once, and that are not about limits.",
} as const satisfies Record<string, string>;

/** Why a user has no rate limits. */
export type Unlimited = keyof typeof UNLIMITED_USERS;
