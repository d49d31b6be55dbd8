import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, ForbiddenError, MatrixRequestError, UnknownTokenError, ValueError } from "@greenroom/matrix";
import {
  AuthenticationNeededError,
  InvalidUsernameError,
  MissingTokenError,
  UserInUseError,
} from "@greenroom/matrix/errors";
import type { Operation } from "./support/operation.ts";
import { nobody, roomOf } from "./support/scene.ts";
import { eventually, refused } from "./support/wait.ts";

/** The session, the account, and the homeserver itself. */
export const session: readonly Operation[] = [
  {
    name: "versions() and getLoginFlows() tell without a login what the homeserver can do",
    covers: ["versions", "supports", "getLoginFlows"],
    async run(scene) {
      const stranger = scene.client();
      const { versions, unstable_features } = await stranger.versions();
      assert(versions.includes("v1.11") && versions.includes("v1.15"));
      assert(unstable_features === undefined || typeof unstable_features === "object");
      assert(await stranger.supports("v1.11") && !await stranger.supports("org.example.none"));
      const flows = await stranger.getLoginFlows();
      assert(flows.some(({ type }) => type === "m.login.password"));
    },
  },
  {
    name: "Client.discover() finds the homeserver by its domain",
    covers: [],
    async run(scene) {
      const { baseUrl, fetch } = scene.host;
      const asked: string[] = [];
      const found = await Client.discover("theatre.example", {
        fetch: (input, init) => {
          const url = new URL(String(input));
          asked.push(url.href);
          return fetch(url.hostname === "theatre.example" ? `${baseUrl}${url.pathname}` : url, init);
        },
      });
      assertEquals(found?.replace(/\/$/, ""), baseUrl);
      assertEquals(asked[0], "https://theatre.example/.well-known/matrix/client");
    },
  },
  {
    name: "login() opens a session that the client then acts as",
    covers: ["login", "whoami", "logout"],
    async run(scene) {
      const alice = await scene.player("alice");
      const client = scene.client();
      assertEquals([client.mxid, client.deviceId], ["", undefined]);
      const response = await client.login({
        identifier: alice.userId,
        password: alice.password,
        deviceName: "Stage door",
      });
      assertEquals([response.user_id, response.access_token], [alice.userId, client.api.accessToken]);
      assertEquals([client.mxid, client.deviceId], [alice.userId, response.device_id]);
      const { user_id, device_id } = await client.whoami();
      assertEquals([user_id, device_id], [alice.userId, response.device_id]);
      assertEquals((await client.getDevice(response.device_id)).display_name, "Stage door");
      await client.logout();
      assertEquals([client.api.accessToken, client.deviceId, client.mxid], ["", undefined, alice.userId]);
      assertEquals((await alice.getDevices()).map((device) => device.device_id), [alice.deviceId]);
    },
  },
  {
    name: "login() takes every form of identifier, and a device to be or become",
    covers: ["login"],
    async run(scene) {
      const { userId, password } = await scene.player("alice");
      const localpart = userId.slice(1, userId.indexOf(":"));
      for (const identifier of [userId, localpart, { type: "m.id.user", user: localpart } as const]) {
        const client = scene.client();
        const { device_id } = await client.login({
          identifier,
          password,
          deviceId: "SAME",
          deviceName: "First name",
        });
        assertEquals(device_id, "SAME");
      }
      const client = scene.client({ mxid: userId });
      await client.login({ password, deviceId: "SAME", deviceName: "Second name" });
      assertEquals(
        (await client.getDevice("SAME")).display_name,
        "First name",
        "a known device keeps its name",
      );
    },
  },
  {
    name: "login() leaves the client as it is with the option for it, and if it fails",
    covers: ["login"],
    async run(scene) {
      const alice = await scene.player("alice");
      const { accessToken: token } = alice.api;
      const before = [alice.mxid, alice.deviceId, token];
      const other = await alice.login({
        identifier: alice.userId,
        password: alice.password,
        deviceId: "OTHER",
        storeAccessToken: false,
      });
      assert(other.access_token !== token);
      await refused(
        () => alice.login({ identifier: alice.userId, password: "wrong" }),
        ForbiddenError,
        403,
      );
      await refused(() => alice.login({ identifier: nobody(scene), password: "x" }), ForbiddenError, 403);
      await refused(() => alice.login({ loginType: "m.login.nonsense" }), MatrixRequestError, 400);
      await assertRejects(() => alice.login({ identifier: alice.userId }), ValueError);
      assertEquals([alice.mxid, alice.deviceId, alice.api.accessToken], before);
      assertEquals((await alice.whoami()).user_id, alice.userId);
    },
  },
  {
    name: "login() follows the homeserver's address with the option for it",
    covers: ["login"],
    async run(scene) {
      const { userId, password } = await scene.player("alice");
      const client = scene.client();
      const { well_known } = await client.login({ identifier: userId, password, updateHsUrl: true });
      const named = well_known?.["m.homeserver"].base_url.replace(/\/$/, "");
      assertEquals(client.api.baseUrl, named ?? scene.host.baseUrl);
      assertEquals((await client.whoami()).user_id, userId);
    },
  },
  {
    name: "getLoginToken() gives a token with which another client logs in, once",
    covers: ["getLoginToken", "login"],
    async run(scene) {
      const alice = await scene.player("alice");
      const { login_token, expires_in_ms } = await alice.getLoginToken({
        authentication: { password: alice.password },
      });
      assert(expires_in_ms > 0);
      const phone = scene.client();
      await phone.login({ loginType: "m.login.token", loginToken: login_token, deviceId: "PHONE" });
      assertEquals([phone.mxid, phone.deviceId], [alice.userId, "PHONE"]);
      await refused(
        () => scene.client().login({ loginType: "m.login.token", loginToken: login_token }),
        ForbiddenError,
        403,
      );
    },
  },
  {
    name: "logout() voids the token and deletes the device, logoutAll() all of them",
    covers: ["logout", "logoutAll"],
    breaks: ["sends no token"],
    async run(scene) {
      const alice = await scene.player("alice");
      const { userId, password } = alice;
      const [second, third] = [scene.client(), scene.client()];
      await second.login({ identifier: userId, password });
      await third.login({ identifier: userId, password });
      const { accessToken: token } = second.api;
      await second.logout({ clearAccessToken: false });
      assertEquals(second.api.accessToken, token);
      const error = await refused(() => second.whoami(), UnknownTokenError, 401);
      assert(error.body.soft_logout !== true, "the device is gone");
      assertEquals((await alice.getDevices()).length, 2);
      await alice.logoutAll();
      assertEquals([alice.api.accessToken, alice.deviceId], ["", undefined]);
      await refused(() => third.whoami(), UnknownTokenError, 401);
      await refused(() => alice.whoami(), MissingTokenError, 401);
    },
  },
  {
    name: "login() with refreshToken gives a token that is renewed as it expires",
    covers: ["login"],
    async run(scene) {
      const { userId, password } = await scene.player("alice");
      const client = scene.client();
      const { refresh_token, expires_in_ms, access_token } = await client.login({
        identifier: userId,
        password,
        withRefreshToken: true,
      });
      assert(refresh_token !== undefined && (expires_in_ms ?? 0) > 0);
      const kept: string[] = [];
      const impatient = scene.client({
        accessToken: access_token,
        refreshToken: refresh_token,
        expiresIn: 0,
        onTokensRefreshed: ({ accessToken }) => void kept.push(accessToken),
      });
      assertEquals((await impatient.whoami()).user_id, userId);
      assertEquals(kept, [impatient.api.accessToken]);
      assert(impatient.api.accessToken !== access_token);
    },
  },
  {
    name: "register() makes an account and logs in, or not",
    covers: ["register", "isUsernameAvailable"],
    async run(scene) {
      const username = scene.unique("newcomer");
      const client = scene.client();
      assert(await client.isUsernameAvailable(username) === true);
      const authentication = {};
      const { user_id } = await client.register({
        username,
        password: "x7y8z9!",
        deviceId: "NEW",
        authentication,
      });
      assertEquals([user_id, client.mxid, client.deviceId], [
        `@${username}:${scene.host.serverName}`,
        `@${username}:${scene.host.serverName}`,
        "NEW",
      ]);
      assertEquals((await client.whoami()).user_id, user_id);
      assert(await client.isUsernameAvailable(username) === false);
      const stranger = scene.client();
      await refused(
        () => stranger.register({ username, password: "x", authentication }),
        UserInUseError,
        400,
      );
      await refused(
        () => stranger.register({ username: "No Such Name", password: "x", authentication }),
        InvalidUsernameError,
        400,
      );
      const challenge = await refused(
        () => stranger.register({ username: scene.unique("a"), password: "x" }),
        AuthenticationNeededError,
        401,
      );
      assert(challenge instanceof AuthenticationNeededError);
      assertEquals(challenge.challenge.flows, [{ stages: ["m.login.dummy"] }]);
      assertEquals(
        challenge.message,
        "Cannot register (POST /_matrix/client/v3/register): the homeserver wants to be shown m.login.dummy; give it by the option authentication",
      );
      const quiet = await stranger.register({
        username: scene.unique("quiet"),
        password: "x7y8z9!",
        inhibitLogin: true,
        authentication,
      });
      assertEquals([quiet.access_token, stranger.api.accessToken], [undefined, ""]);
    },
  },
  {
    name: "changePassword() requires the old one, and logs other devices out by default",
    covers: ["changePassword"],
    async run(scene) {
      const alice = await scene.player("alice");
      const { userId, password } = alice;
      const other = scene.client();
      await other.login({ identifier: userId, password });
      await refused(() => alice.changePassword("new one"), MatrixRequestError, 401);
      await refused(
        () => alice.changePassword("new one", { authentication: { password: "wrong" } }),
        MatrixRequestError,
        401,
      );
      await alice.changePassword("new one", { authentication: { password }, logoutDevices: false });
      assertEquals((await other.whoami()).user_id, userId);
      await alice.changePassword("newer one", { authentication: { password: "new one" } });
      await refused(() => other.whoami(), UnknownTokenError, 401);
      assertEquals((await alice.whoami()).user_id, userId);
      await refused(() => other.login({ identifier: userId, password }), ForbiddenError, 403);
      await other.login({ identifier: userId, password: "newer one" });
    },
  },
  {
    name: "deactivateAccount() ends the account and takes it out of its rooms",
    covers: ["deactivateAccount", "getThirdPartyIds"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const { userId, password } = bob;
      const roomId = await roomOf(alice, bob);
      assertEquals(await bob.getThirdPartyIds(), []);
      await refused(() => bob.deactivateAccount(), MatrixRequestError, 401);
      const { accessToken: token } = bob.api;
      assertEquals(await bob.deactivateAccount({ erase: true, authentication: { password } }), "success");
      assertEquals(bob.api.accessToken, "");
      await refused(() => scene.client({ accessToken: token }).whoami(), UnknownTokenError, 401);
      await refused(() => bob.login({ identifier: userId, password }), ForbiddenError, 403);
      await eventually(
        () => alice.getStateEvent(roomId, "m.room.member", { stateKey: userId }),
        ({ membership }) => membership === "leave",
      );
    },
  },
];
