/**
 * A client that logs in by OAuth 2.0 in plain requests, wherever its users do.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Json } from "../harness.ts";
import { DEVICE_CODE } from "./client.ts";

/** A homeserver whose users log in at an authorization server, and a person at the browser. */
export interface LoginScene {
  /** The address of the homeserver. */
  readonly baseUrl: string;
  /** Sends requests to it, and to the authorization server. */
  readonly fetch: typeof fetch;
  /** Approves what a client shows as the user with a localpart, and returns where the browser ends. */
  approve(request: string, localpart: string): string | Promise<string>;
}

/** One where more can happen than logins. */
export interface OAuthScene extends LoginScene {
  /** Denies what a client shows. */
  deny(request: string): string | Promise<string>;
  /** Has an action get access tokens that expire soon, and lets time pass until `isOver` says so. */
  expire(action: () => Promise<void>, isOver: () => Promise<boolean>): Promise<void>;
}

/** A client that knows nothing but the address of the homeserver. */
export class PlainClient {
  readonly scene: LoginScene;
  readonly deviceId: string = `D${crypto.randomUUID().slice(0, 13).toUpperCase()}`;
  readonly localpart: string = `user-${crypto.randomUUID().slice(0, 8)}`;
  metadata: Json;
  id = "";

  constructor(scene: LoginScene) {
    this.scene = scene;
  }

  static async register(scene: LoginScene, name = "Bot"): Promise<PlainClient> {
    const client = new PlainClient(scene);
    client.metadata = (await client.send(`${scene.baseUrl}/_matrix/client/v1/auth_metadata`)).body;
    const { status, body } = await client.send(client.metadata.registration_endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        client_name: name,
        client_uri: "https://bot.example/",
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token", DEVICE_CODE],
        response_types: ["code"],
        redirect_uris: ["http://127.0.0.1/callback"],
        token_endpoint_auth_method: "none",
      }),
    });
    assertEquals([status, body.client_name], [201, name]);
    client.id = body.client_id;
    return client;
  }

  async send(url: string, init: RequestInit = {}): Promise<{ status: number; body: Json }> {
    const response = await this.scene.fetch(url, init);
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  form(endpoint: string, form: Record<string, string>): Promise<{ status: number; body: Json }> {
    const body = new URLSearchParams({ client_id: this.id, ...form });
    return this.send(this.metadata[`${endpoint}_endpoint`], { method: "POST", body });
  }

  api(token: string, method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }> {
    return this.send(`${this.scene.baseUrl}/_matrix/client/v3${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  whoami(token: string): Promise<{ status: number; body: Json }> {
    return this.api(token, "GET", "/account/whoami");
  }

  /** The device and the localpart of a token, or the refusal. */
  async ownerOf(token: string): Promise<unknown[]> {
    const { status, body } = await this.whoami(token);
    return status === 200
      ? [body.device_id, body.user_id?.split(":")[0]]
      : [status, body.errcode, body.soft_logout];
  }

  get scope(): string {
    return `urn:matrix:client:api:* urn:matrix:client:device:${this.deviceId}`;
  }

  async deviceCode(scope: string = this.scope): Promise<Json> {
    return (await this.form("device_authorization", { scope })).body;
  }

  poll(device_code: string): Promise<{ status: number; body: Json }> {
    return this.form("token", { grant_type: DEVICE_CODE, device_code });
  }

  async logIn(scope?: string): Promise<Json> {
    const { user_code, device_code } = await this.deviceCode(scope);
    await this.scene.approve(user_code, this.localpart);
    const { status, body } = await this.poll(device_code);
    assertEquals([status, body.token_type], [200, "Bearer"]);
    return body;
  }

  refresh(refresh_token: string): Promise<{ status: number; body: Json }> {
    return this.form("token", { grant_type: "refresh_token", refresh_token });
  }

  get owner(): unknown[] {
    return [this.deviceId, `@${this.localpart}`];
  }
}
