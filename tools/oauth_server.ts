/**
 * An authorization server on loopback for a Synapse of tests, made of `oidc-provider`: the Matrix
 * Authentication Service is in no package registry.
 *
 * @module
 */

import { createServer, type Server } from "node:http";
import { Browser } from "./oauth/browser.ts";
import { makeProvider } from "./oauth/provider.ts";
import { randomSecret } from "./synapse/config.ts";

/** A running authorization server. */
export class OAuthServer implements AsyncDisposable {
  /** Its URL, with a slash at the end. */
  readonly issuer: string;
  /** What it and Synapse show to each other. */
  readonly secret: string;
  /** How long access tokens live that it gives from now on, in seconds. */
  accessTokenLifetime = 300;
  /** The address of the Synapse that it belongs to. */
  homeserver: string | undefined;
  readonly #server: Server;

  private constructor(server: Server, port: number, secret: string) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${port}/`;
    this.secret = secret;
  }

  /** Starts one. It gives tokens as soon as its `homeserver` is set. */
  static async start(): Promise<OAuthServer> {
    const server = createServer();
    const { promise: listening, resolve } = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1", resolve);
    await listening;
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("Cannot listen on a port");
    const oauth = new OAuthServer(server, address.port, randomSecret(16));
    const { issuer, secret } = oauth;
    const homeserver = () => {
      if (oauth.homeserver === undefined) throw new Error("Cannot give a token: there is no homeserver yet");
      return oauth.homeserver;
    };
    server.on(
      "request",
      await makeProvider({
        issuer,
        secret,
        accessTokenLifetime: () => oauth.accessTokenLifetime,
        homeserver,
      }),
    );
    return oauth;
  }

  /**
   * Approves a login, as a person does at the browser. Who logs in for the first time is registered.
   *
   * @param request What the client shows: the user code, the URL that has it, or the URL of the authorization
   *   endpoint.
   * @param localpart The part of the user ID before the colon.
   * @returns Where the browser ends: at the redirect URI with the code, or at a page that says it is done.
   */
  approve(request: string | URL, localpart: string): Promise<string> {
    return new Browser(this.issuer, localpart).open(this.#pageOf(request));
  }

  /** Denies a login, as in {@linkcode OAuthServer.approve}. */
  deny(request: string | URL): Promise<string> {
    const nobody = "";
    return this.approve(request, nobody);
  }

  #pageOf(request: string | URL): string {
    return URL.canParse(request) ? String(request) : `${this.issuer}link?user_code=${request}`;
  }

  /** Stops it. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await closed;
  }
}
