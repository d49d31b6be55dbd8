/**
 * Where a homeserver is, how a session begins, and how a user shows once more who is asking.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#login | Login}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#user-interactive-authentication-api | User-interactive authentication}
 *
 * @module
 */

import type { LoginType, Open, ThirdPartyMedium } from "../enums.ts";
import type { ContentURI, DeviceID, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/** How a user says who to log in as. */
export type UserIdentifier = UserIDIdentifier | ThirdPartyIdentifier | PhoneIdentifier;

/** Identifies a user by the user ID. */
export interface UserIDIdentifier {
  /** The kind of identifier. */
  type: "m.id.user";
  /** The user ID, or its localpart. */
  user: string;
}

/** Identifies a user by an address outside of Matrix, like an email address. */
export interface ThirdPartyIdentifier {
  /** The kind of identifier. */
  type: "m.id.thirdparty";
  /** The kind of address: `email` or `msisdn`. */
  medium: Open<ThirdPartyMedium>;
  /** The address, in its canonical form. */
  address: string;
}

/** Identifies a user by a phone number. */
export interface PhoneIdentifier {
  /** The kind of identifier. */
  type: "m.id.phone";
  /** The country that the number is dialled from: two letters of ISO 3166-1. */
  country: string;
  /** The phone number. */
  phone: string;
}

/** A way to log in. */
export interface LoginFlow {
  /** The type of the login, like `m.login.password`. */
  type: Open<LoginType>;
  /**
   * Of `m.login.token`: whether a logged-in device can get a token for another one. Default:
   * `false`.
   */
  get_login_token?: boolean;
  /** Of `m.login.sso`: the identity providers to choose from. */
  identity_providers?: IdentityProvider[];
  /**
   * Of `m.login.sso`: whether it only stands in for OAuth 2.0, which should be used. Default:
   * `false`.
   */
  oauth_aware_preferred?: boolean;
}

/** A third party that identifies the user. */
export interface IdentityProvider {
  /** The ID of the provider, for the homeserver. */
  id: string;
  /** The provider's name, for users. */
  name: string;
  /** The provider's icon. */
  icon?: ContentURI;
  /** Whose looks to give the button, such as `google` or `github`. */
  brand?: string;
}

/** The answer to a login. */
export interface LoginResponse {
  /** The user who has logged in. */
  user_id: UserID;
  /** The token to make requests with. Secret. */
  access_token: string;
  /** The device that the token belongs to. */
  device_id: DeviceID;
  /**
   * The token to get a new access token with; absent if the server has none or none was asked for.
   * Secret.
   */
  refresh_token?: string;
  /** For how long the access token is valid, in milliseconds. Absent: it does not expire. */
  expires_in_ms?: number;
  /** Where to find the homeserver from now on. */
  well_known?: DiscoveryInformation;
  /** The name of the homeserver; deprecated. */
  home_server?: string;
}

/** The answer to a refresh. */
export interface RefreshResponse {
  /** The new token to make requests with. Secret. */
  access_token: string;
  /** The new token to refresh with; the old one stays good if absent. Secret. */
  refresh_token?: string;
  /** For how long the access token is valid, in milliseconds. Absent: it does not expire. */
  expires_in_ms?: number;
}

/** A token for another device to log in with. */
export interface LoginTokenResponse {
  /** The token, for `m.login.token`. Secret. */
  login_token: string;
  /** For how long it is good, in milliseconds. */
  expires_in_ms: number;
}

/** The user and the device of an access token. */
export interface WhoamiResponse {
  /** The user of the access token. */
  user_id: UserID;
  /** The device; absent if the token belongs to none, as an application service's. */
  device_id?: DeviceID;
  /** Whether the user is a guest. Default: `false`. */
  is_guest?: boolean;
}

/** The stages of the specification. */
export const AuthenticationStage = {
  /** The user's password. */
  PASSWORD: "m.login.password",
  /** A captcha. */
  RECAPTCHA: "m.login.recaptcha",
  /** Single sign-on in a browser. */
  SSO: "m.login.sso",
  /** An email address that was validated. */
  EMAIL_IDENTITY: "m.login.email.identity",
  /** A phone number that was validated. */
  MSISDN: "m.login.msisdn",
  /** Nothing at all. */
  DUMMY: "m.login.dummy",
  /** A token that the server's administration gave out; of registration alone. */
  REGISTRATION_TOKEN: "m.login.registration_token",
  /** That the user agrees to terms; of registration alone. */
  TERMS: "m.login.terms",
  /** The account management of an OAuth 2.0 server. */
  OAUTH: "m.oauth",
} as const;
/** A value of {@linkcode AuthenticationStage}. */
export type AuthenticationStage = typeof AuthenticationStage[keyof typeof AuthenticationStage];

/** What the server answers, with status 401, until it is content. */
export interface AuthenticationResponse {
  /** Ways to get through, of which one suffices. */
  flows: AuthenticationFlow[];
  /** What a client needs to know of each stage. */
  params?: { [stage: string]: JsonObject };
  /** The session, to be sent with every further request. */
  session?: string;
  /** The stages that are done. */
  completed?: string[];
  /** Why the stage tried last failed. */
  errcode?: string;
  /** Why the stage tried last failed, in words. */
  error?: string;
}

/** Stages that together authenticate a user. */
export interface AuthenticationFlow {
  /** The stages, all of which must be done, in this order. */
  stages: Open<AuthenticationStage>[];
}

/** What a client sends to do a stage. */
export interface AuthenticationData {
  /** The stage; absent to ask whether a stage was done elsewhere. */
  type?: Open<AuthenticationStage>;
  /** The session, as the server gave it. */
  session?: string;
  /** What the stage needs. */
  [key: string]: unknown;
}

/** The answer of `/.well-known/matrix/client`. */
export interface DiscoveryInformation {
  /** The homeserver with its client-server API. */
  "m.homeserver": DiscoveredServer;
  /** The identity server to use. */
  "m.identity_server"?: DiscoveredServer;
  /** Anything else. */
  [key: string]: unknown;
}

/** A server and its base URL. */
export interface DiscoveredServer {
  /** The URL in front of its endpoints. */
  base_url: string;
}

/** The answer of `/_matrix/client/versions`. */
export interface VersionsResponse {
  /** The versions of the specification that the server supports, such as `v1.11` or `r0.6.1`. */
  versions: string[];
  /** Which features of proposals the server supports; not the ones that are missing. */
  unstable_features?: { [feature: string]: boolean };
}

/**
 * What a homeserver may support: a version of the specification, such as `v1.11`, or a feature of a
 * proposal under the name that `/versions` has for it. Any other name can be asked for, too.
 */
export type ServerFeature = Open<
  | `v1.${number}`
  | "com.beeper.msc4169"
  | "fi.mau.msc2815"
  | "io.element.e2ee_forced.private"
  | "io.element.e2ee_forced.public"
  | "org.matrix.msc3391"
  | "org.matrix.msc3881"
  | "org.matrix.msc3916.stable"
  | "org.matrix.msc4140"
  | "org.matrix.msc4155"
  | "org.matrix.msc4306"
  | "org.matrix.msc4354"
  | "org.matrix.msc4380.stable"
  | "org.matrix.simplified_msc3575"
  | "uk.half-shot.msc2666.query_mutual_rooms.stable"
  | "uk.tcpip.msc4133.stable"
  | "uk.timedout.msc4323"
>;
