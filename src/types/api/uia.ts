/**
 * User-interactive authentication: the server wants to know once more who is asking.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#user-interactive-authentication-api | UIA}
 * @module
 */

import type { JsonObject } from "../json.ts";
import type { Open } from "../enums.ts";

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

/** A way through. */
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
