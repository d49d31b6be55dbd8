/**
 * A client that logs in by OAuth 2.0, in plain requests, and the person in front of the browser.
 *
 * @module
 */

import { Homeserver, type HomeserverOptions, TestClock, type TestUser } from "@greenroom/matrix/testing";
import type { Answer, Json } from "../harness.ts";

/** The grant type of device codes. */
export const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";
/** What a client asks for. */
export const SCOPE = "urn:matrix:client:api:* urn:matrix:client:device:BOTSDEVICE";
/** Where a client listens; any port will do. */
export const REDIRECT_URI = "http://127.0.0.1:4711/callback";
/** What a client registers. */
export const METADATA = {
  client_name: "Bot",
  client_uri: "https://bot.example/",
  application_type: "native",
  grant_types: ["authorization_code", "refresh_token", DEVICE_CODE],
  redirect_uris: ["http://127.0.0.1/callback"],
  token_endpoint_auth_method: "none",
};

/** A homeserver with an authorization server, its clock, and a registered client. */
export class OAuthClient implements AsyncDisposable {
  readonly homeserver: Homeserver;
  readonly clock: TestClock = new TestClock();
  readonly user: TestUser;
  id = "";

  constructor(options: HomeserverOptions = {}) {
    this.homeserver = new Homeserver({ oauth: true, clock: this.clock, ...options });
    this.user = this.homeserver.createUser("alice");
  }

  /** Makes one that is registered. */
  static async registered(options: HomeserverOptions = {}): Promise<OAuthClient> {
    const client = new OAuthClient(options);
    client.id = (await client.json("/oauth2/registration", METADATA)).body.client_id;
    return client;
  }

  /** Sends any request to the homeserver. */
  async send(path: string, init: RequestInit = {}): Promise<Answer> {
    const { baseUrl, fetch } = this.homeserver;
    const response = await fetch(`${baseUrl}${path}`, { redirect: "manual", ...init });
    const { status, headers } = response;
    const text = await response.text();
    const isJson = headers.get("content-type") === "application/json";
    return { status, body: isJson ? JSON.parse(text) : text, headers };
  }

  /** Posts JSON. */
  json(path: string, body: unknown): Promise<Answer> {
    return this.send(path, { method: "POST", body: JSON.stringify(body) });
  }

  /** Posts a form, with the ID of the client. */
  form(path: string, form: Record<string, string>): Promise<Answer> {
    return this.send(path, { method: "POST", body: new URLSearchParams({ client_id: this.id, ...form }) });
  }

  /** Asks for a device code. */
  async deviceCode(scope: string = SCOPE): Promise<Json> {
    return (await this.form("/oauth2/device", { scope })).body;
  }

  /** Asks for the tokens of a device code. */
  poll(device_code: string): Promise<Answer> {
    return this.form("/oauth2/token", { grant_type: DEVICE_CODE, device_code });
  }

  /** Logs in by a device code. */
  async logIn(scope: string = SCOPE): Promise<Json> {
    const { user_code, device_code } = await this.deviceCode(scope);
    this.homeserver.oauth.approve(user_code, this.user.userId);
    return (await this.poll(device_code)).body;
  }

  /** Exchanges a refresh token. */
  refresh(refresh_token: string): Promise<Answer> {
    return this.form("/oauth2/token", { grant_type: "refresh_token", refresh_token });
  }

  /** Sends a request of the client-server API. */
  api(token: string, method: string, path: string, body?: unknown): Promise<Answer> {
    const headers: Record<string, string> = token === "" ? {} : { authorization: `Bearer ${token}` };
    return this.send(`/_matrix/client/v3${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  /** Asks who a token belongs to. */
  whoami(token: string): Promise<Answer> {
    return this.api(token, "GET", "/account/whoami");
  }

  /** Status and error of an answer. */
  static refusal({ status, body }: Answer): unknown[] {
    return [status, body.error];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.homeserver.close();
  }
}
