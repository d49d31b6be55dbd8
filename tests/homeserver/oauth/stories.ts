/**
 * Logins by OAuth 2.0 that have the same outcome on the in-process homeserver and on a Synapse with an
 * authorization server.
 *
 * @module
 */

import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import type { Json } from "../harness.ts";
import { type OAuthScene, PlainClient } from "./plain_client.ts";

/** A story, and what it is called. */
export interface OAuthStory {
  readonly name: string;
  readonly tell: (scene: OAuthScene) => Promise<void>;
}

const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"; // RFC 7636, appendix B
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const GONE = [401, "M_UNKNOWN_TOKEN", false];

/** All stories. */
export const OAUTH_STORIES: readonly OAuthStory[] = [
  {
    name: "a device code waits for a person, and gives tokens of the device once",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const { device_code, verification_uri_complete } = await client.deviceCode();
      assertEquals((await client.poll(device_code)).body.error, "authorization_pending");
      await scene.approve(verification_uri_complete, client.localpart);
      const { status, body } = await client.poll(device_code);
      assertEquals([status, body.scope], [200, client.scope]);
      assertEquals(await client.ownerOf(body.access_token), client.owner);
      const device = (await client.api(body.access_token, "GET", `/devices/${client.deviceId}`)).body;
      assertEquals(device.display_name, "Bot");
      assertEquals((await client.poll(device_code)).body.error, "invalid_grant");
    },
  },
  {
    name: "a device code is denied",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const { device_code, user_code } = await client.deviceCode();
      await scene.deny(user_code);
      assertEquals((await client.poll(device_code)).body.error, "access_denied");
    },
  },
  {
    name: "the unstable spelling of scopes names a device too",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const start = "urn:matrix:org.matrix.msc2967.client:";
      const { access_token } = await client.logIn(`openid ${start}api:* ${start}device:${client.deviceId}`);
      assertEquals(await client.ownerOf(access_token), client.owner);
    },
  },
  {
    name: "an authorization code comes back to any loopback port, and needs the verifier",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const redirect_uri = "http://127.0.0.1:4711/callback";
      const ask = async (answer: (url: string) => string | Promise<string>) => {
        const url = new URL(client.metadata.authorization_endpoint);
        const asked = {
          response_type: "code",
          response_mode: "query",
          client_id: client.id,
          redirect_uri,
          scope: client.scope,
          state: "a state",
          code_challenge: CHALLENGE,
          code_challenge_method: "S256",
        };
        for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
        const back = new URL(await answer(url.href));
        assertEquals([back.host, back.searchParams.get("state")], ["127.0.0.1:4711", "a state"]);
        return back.searchParams;
      };
      assertEquals((await ask((url) => scene.deny(url))).get("error"), "access_denied");
      const approve = () => ask((url) => scene.approve(url, client.localpart));
      const exchange = (code: string | null, code_verifier: string) =>
        client.form("token", {
          grant_type: "authorization_code",
          code: code ?? "",
          redirect_uri,
          code_verifier,
        });
      const wrong = await exchange((await approve()).get("code"), "x".repeat(43));
      assertEquals(wrong.body.error, "invalid_grant");
      const { status, body } = await exchange((await approve()).get("code"), VERIFIER);
      assertEquals(status, 200);
      assertEquals(await client.ownerOf(body.access_token), client.owner);
    },
  },
  {
    name: "a refresh token works once, and again while what it gave is unused",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const first = await client.logIn();
      const lost = (await client.refresh(first.refresh_token)).body;
      const second = (await client.refresh(first.refresh_token)).body;
      assertNotEquals(second.refresh_token, lost.refresh_token);
      assertEquals((await client.refresh(lost.refresh_token)).body.error, "invalid_grant");
      assertEquals(await client.ownerOf(second.access_token), client.owner);
      assertEquals((await client.refresh(first.refresh_token)).body.error, "invalid_grant");
      const third = (await client.refresh(second.refresh_token)).body;
      assertEquals(await client.ownerOf(third.access_token), client.owner);
      assertEquals((await client.refresh(first.refresh_token)).body.error, "invalid_grant");
    },
  },
  {
    name: "an access token that was used works on after a refresh, and one that was not does not",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const first = await client.logIn();
      const second = (await client.refresh(first.refresh_token)).body;
      assertEquals(await client.ownerOf(first.access_token), GONE);
      assertEquals(await client.ownerOf(second.access_token), client.owner);
      await client.refresh(second.refresh_token);
      assertEquals(await client.ownerOf(second.access_token), client.owner);
    },
  },
  {
    name: "revoking a refresh token ends the login, and deletes the device",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const { access_token, refresh_token } = await client.logIn();
      assertEquals(await client.ownerOf(access_token), client.owner);
      assertEquals((await client.form("revocation", { token: refresh_token })).status, 200);
      assertEquals(await client.ownerOf(access_token), GONE);
      assertEquals((await client.refresh(refresh_token)).body.error, "invalid_grant");
      assertEquals((await client.form("revocation", { token: refresh_token })).status, 200);
    },
  },
  {
    name: "an access token expires and its refresh token gives another",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      let tokens: Json;
      await scene.expire(async () => {
        tokens = await client.logIn();
        assertEquals(await client.ownerOf(tokens.access_token), client.owner);
      }, async () => (await client.whoami(tokens.access_token)).status !== 200);
      assertEquals(await client.ownerOf(tokens.access_token), GONE);
      const next = (await client.refresh(tokens.refresh_token)).body;
      assertEquals(await client.ownerOf(next.access_token), client.owner);
    },
  },
  {
    name: "there is no login, logout and refresh of old, and no deleting of devices",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const { access_token } = await client.logIn();
      const requests = [
        ...["GET /login", "POST /login", "POST /refresh", "POST /logout", "POST /logout/all"],
        ...["POST /account/password", "POST /account/deactivate", "POST /delete_devices"],
        ...[`DELETE /devices/${client.deviceId}`, "GET /register/available", "POST /register"],
      ];
      const answers = await Promise.all(requests.map(async (request) => {
        const [method = "", path = ""] = request.split(" ");
        const { status, body } = await client.api(
          access_token,
          method,
          path,
          method === "GET" ? undefined : {},
        );
        return [request, status, body.errcode];
      }));
      assertEquals(
        answers,
        requests.map((request) => [
          request,
          ...(request === "POST /register" ? [403, "M_FORBIDDEN"] : [404, "M_UNRECOGNIZED"]),
        ]),
      );
      const { capabilities } = (await client.api(access_token, "GET", "/capabilities")).body;
      for (const name of ["m.change_password", "m.3pid_changes", "m.get_login_token"]) {
        assertEquals(capabilities[name], { enabled: false });
      }
      const discovery = (await client.send(`${scene.baseUrl}/.well-known/matrix/client`)).body;
      assertEquals(discovery["org.matrix.msc2965.authentication"], {
        issuer: client.metadata.issuer,
        account: client.metadata.account_management_uri,
      });
    },
  },
  {
    name: "replacing cross-signing keys needs a person at the account page",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const { access_token } = await client.logIn();
      const { user_id } = (await client.whoami(access_token)).body;
      const upload = (key: string) =>
        client.api(access_token, "POST", "/keys/device_signing/upload", {
          master_key: { user_id, usage: ["master"], keys: { [`ed25519:${key}`]: key } },
        });
      assertEquals((await upload("A".repeat(43))).status, 200);
      const { status, body } = await upload(`${"A".repeat(42)}E`);
      assertEquals([status, body.session], [401, "dummy"]);
      const url = `${client.metadata.account_management_uri}?action=org.matrix.cross_signing_reset`;
      assertEquals(body.params, { "m.oauth": { url }, "org.matrix.cross_signing_reset": { url } });
      assertEquals(body.flows, [{ stages: ["m.oauth"] }, { stages: ["org.matrix.cross_signing_reset"] }]);
    },
  },
  {
    name: "a scope that nobody can have gives no tokens",
    async tell(scene) {
      const client = await PlainClient.register(scene);
      const { user_code } = await client.deviceCode("urn:matrix:client:api:* urn:matrix:client:device:SHORT");
      await assertRejects(async () => await scene.approve(user_code, client.localpart));
    },
  },
];
