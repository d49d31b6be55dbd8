/**
 * `oidc-provider` as the authorization server of a Synapse, in place of the Matrix Authentication Service:
 * what Synapse asks that service for, and what that service tells Synapse.
 *
 * @module
 */

import { generateKeyPairSync } from "node:crypto";
import { deviceOf, Logins } from "./logins.ts";

/** What a provider for tests needs. */
export interface ProviderOptions {
  /** Its URL, with a slash at the end. */
  readonly issuer: string;
  /** What Synapse and the provider show to each other. */
  readonly secret: string;
  /** How long an access token lives that is given now, in seconds. */
  readonly accessTokenLifetime: () => number;
  /** The address of Synapse. */
  readonly homeserver: () => string;
}

/** What answers requests of Node's HTTP server. */
export type NodeHandler = (request: unknown, response: unknown) => void;

// deno-lint-ignore no-explicit-any -- oidc-provider has no types, and koa's are another package
type Untyped = any;

/** All that tokens are for, in the words of RFC 8707. */
const RESOURCE = "urn:matrix";
const MATRIX_SCOPE =
  /^urn:matrix:(?:org\.matrix\.msc2967\.)?client:(?:api:\*|device:[\w.~!$&'()*+,;=:@/-]{10,})$/;
/** The scope can be in any of these when the provider asks what there is. */
const WITH_SCOPE = ["AuthorizationCode", "DeviceCode", "RefreshToken"];

/** Makes a provider. */
export async function makeProvider(options: ProviderOptions): Promise<NodeHandler> {
  return await quietly(async () => {
    const { default: Provider, errors } = await import("oidc-provider");
    const logins = new Logins();
    const provider: Untyped = new Provider(options.issuer, configuration(options, { logins, errors }));
    logins.provider = provider;
    provider.use((ctx: Untyped, next: () => Promise<void>) =>
      around(ctx, next, { provider, options, logins })
    );
    return provider.callback();
  });
}

/** It warns of what is right here: Deno, http, and that everything is in memory. */
async function quietly<T>(action: () => Promise<T>): Promise<T> {
  const { warn, info } = console;
  Object.assign(console, { warn() {}, info() {} });
  try {
    return await action();
  } finally {
    Object.assign(console, { warn, info });
  }
}

function configuration(
  { issuer, accessTokenLifetime }: ProviderOptions,
  { logins, errors }: { logins: Logins; errors: Untyped },
): Untyped {
  return {
    routes: {
      authorization: "/authorize",
      code_verification: "/link",
      device_authorization: "/oauth2/device",
      registration: "/oauth2/registration",
      revocation: "/oauth2/revoke",
      token: "/oauth2/token",
    },
    discovery: {
      account_management_uri: `${issuer}account/`,
      account_management_actions_supported: ["org.matrix.profile", "org.matrix.cross_signing_reset"],
      prompt_values_supported: ["login"],
    },
    clientAuthMethods: ["none"],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    responseTypes: ["code"],
    cookies: { keys: [crypto.randomUUID()] },
    jwks: { keys: [signingKey()] },
    ttl: {
      AccessToken: accessTokenLifetime,
      AuthorizationCode: 600,
      DeviceCode: 1200,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: codePage,
        userCodeConfirmSource: (ctx: Untyped, form: string) => show(ctx, form + CONFIRM),
        successSource: (ctx: Untyped) => show(ctx, "You are logged in"),
      },
      registration: { enabled: true },
      revocation: {
        enabled: true,
        allowedPolicy: mayEnd,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx: Untyped) => ({
          scope: matrixScopesOf(ctx),
          accessTokenFormat: "opaque",
        }),
      },
    },
    interactions: { url: (_: Untyped, { uid }: Untyped) => `/interaction/${uid}` },
    expiresWithSession: () => false,
    issueRefreshToken: (_: Untyped, client: Untyped) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    async findAccount(_: Untyped, accountId: string, token: Untyped) {
      if (token?.kind === "RefreshToken" && token.consumed && !await logins.takeBack(token)) {
        throw new errors.InvalidGrant("refresh token already used");
      }
      return { accountId, claims: () => ({ sub: accountId }) };
    },
  };
}

function signingKey(): Untyped {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig" };
}

function matrixScopesOf({ oidc }: Untyped): string {
  const texts = [oidc.params?.scope, ...WITH_SCOPE.map((name) => oidc.entities[name]?.scope)];
  return texts.flatMap((text) => text?.split(" ") ?? []).filter((scope) => scope.startsWith("urn:")).join(
    " ",
  );
}

/** Why nobody can approve a scope, as the policy of the Matrix Authentication Service has it. */
function problemOf(scope: string): string | undefined {
  const urns = scope.split(" ").filter((part) => part.startsWith("urn:"));
  const strange = urns.find((part) => !MATRIX_SCOPE.test(part));
  if (strange !== undefined) return `scope '${strange}' not allowed`;
  const devices = urns.filter((part) => deviceOf(part) !== undefined);
  return devices.length > 1 ? "only one device scope is allowed at a time" : undefined;
}

interface Parts {
  readonly provider: Untyped;
  readonly options: ProviderOptions;
  readonly logins: Logins;
}

/** What happens before and after the provider's own endpoints. */
async function around(ctx: Untyped, next: () => Promise<void>, parts: Parts): Promise<void> {
  const { options, logins } = parts;
  if (ctx.path === "/oauth2/introspect") return await introspect(ctx, parts);
  if (ctx.path.startsWith("/interaction/")) return await interact(ctx, parts);
  await next();
  const { entities = {} } = ctx.oidc ?? {};
  if (ctx.path === "/oauth2/token" && ctx.status === 200) {
    await logins.issued(entities);
    const { accountId: localpart, scope } = entities.AccessToken;
    const device = deviceOf(scope);
    if (device !== undefined && !entities.RotatedRefreshToken) {
      await tell(options, "provision_user", { localpart });
      const { clientName, clientId } = ctx.oidc.client;
      await tell(options, "upsert_device", {
        localpart,
        device_id: device,
        display_name: clientName ?? clientId,
      });
    }
  }
  if (ctx.state.ended === undefined) return;
  const { grantId, scope, accountId: localpart } = ctx.state.ended;
  const device = deviceOf(scope);
  if (logins.end(grantId) && device !== undefined) {
    await tell(options, "delete_device", { localpart, device_id: device });
  }
}

/** Whether a token that is to be revoked ends its login, as with the Matrix Authentication Service. */
function mayEnd(ctx: Untyped, client: Untyped, token: Untyped): boolean {
  const kind = token.kind === "RefreshToken" ? "refresh_token" : "access_token";
  const isMeant = (ctx.oidc.params.token_type_hint ?? kind) === kind;
  if (!isMeant || client.clientId !== token.clientId || token.consumed) return false;
  ctx.state.ended = token;
  return true;
}

/** Answers Synapse. */
async function introspect(ctx: Untyped, { provider, options, logins }: Parts): Promise<void> {
  if (ctx.get("authorization") !== `Bearer ${options.secret}`) ctx.throw(401);
  const token = await provider.AccessToken.find((await formOf(ctx)).get("token") ?? "");
  ctx.body = { active: false };
  if (!token) return;
  logins.use(token);
  ctx.body = { active: true, scope: token.scope, username: token.accountId, expires_in: token.remainingTTL };
}

/** The page on which a person says who they are, and whether they approve. */
async function interact(ctx: Untyped, { provider }: Parts): Promise<void> {
  const { params } = await provider.interactionDetails(ctx.req, ctx.res);
  const problem = problemOf(params.scope);
  if (problem !== undefined) ctx.throw(400, problem);
  if (ctx.method !== "POST") return show(ctx, LOGIN);
  const form = await formOf(ctx);
  const user = form.get("user");
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, user ? await approval() : DENIED));

  async function approval(): Promise<Untyped> {
    const grant = new provider.Grant({ accountId: user, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    grant.addResourceScope(RESOURCE, params.scope);
    return { login: { accountId: user, remember: false }, consent: { grantId: await grant.save() } };
  }
}

const DENIED = { error: "access_denied", error_description: "The person has denied the request" };
const CONFIRM = `<button form="op.deviceConfirmForm">Go on</button>`;
const LOGIN = `<form method="post"><label>Log in as <input name="user" autofocus> (empty: deny)</label>
<button>Go on</button></form>`;

function show(ctx: Untyped, html: string): void {
  ctx.body = `<!DOCTYPE html><html lang="en"><title>Log in</title>${html}</html>`;
}

/** Asks for a user code, or says why there is nothing to approve. */
function codePage(ctx: Untyped, form: string, _: Untyped, error: Untyped): void {
  show(ctx, error ? `There is nothing to approve: ${error.name}` : form);
  if (error && error.name !== "AbortedError") ctx.status = 400;
}

async function formOf(ctx: Untyped): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of ctx.req) text += chunk;
  return new URLSearchParams(text);
}

/** Tells Synapse of a user or a device. */
async function tell({ homeserver, secret }: ProviderOptions, what: string, body: object): Promise<void> {
  const response = await fetch(`${homeserver()}/_synapse/mas/${what}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`Cannot ${what}: Synapse said ${response.status} ${answer}`);
}
