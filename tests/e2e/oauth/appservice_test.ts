/** An application service whose users encrypt, on a Synapse whose users log in by OAuth 2.0 alone. */

import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { Client, type Clock, encryptionOf, MemoryStore } from "@greenroom/matrix";
import { Appservice, createRegistration, registrationToYaml } from "@greenroom/matrix/appservice";
import { loginByDeviceCode, OAuthSession } from "@greenroom/matrix/oauth";
import { OAuthServer } from "../../../tools/oauth_server.ts";
import { findPython } from "../../../tools/python.ts";
import { Synapse } from "../../../tools/synapse.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { within } from "../support/deadline.ts";

/** The person is quick here, so five seconds between two requests are too many. */
const hurried: Clock = {
  now: () => Date.now(),
  delay: (ms, options) => delay(ms > 5_000 ? ms : ms / 100, options),
};
const MEGOLM = { type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } };

Deno.test({
  name: "users of an application service get devices without a login, and encrypt",
  ignore: Deno.env.get("CI") !== "true" && await findPython() === undefined,
  async fn() {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "greenroom-appservice-" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const serving = Promise.withResolvers<Appservice>();
    const listener = stack.use(Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => await (await serving.promise).fetch(request),
    ));
    const registration = createRegistration({
      ...{
        id: "echo",
        url: `http://127.0.0.1:${listener.addr.port}`,
        serverName: "localhost",
        encryption: true,
      },
    });
    await Deno.writeTextFile(`${folder}/registration.yaml`, registrationToYaml(registration));
    const oauth = stack.use(await OAuthServer.start());
    const appservices = [`${folder}/registration.yaml`];
    const synapse = stack.use(await Synapse.start({ oauth, appservices, print() {} }));
    const options = { baseUrl: synapse.baseUrl, log: false, encryption: EVERYBODY } as const;
    const appservice = stack.use(
      new Appservice({ ...options, registration, serverName: "localhost", store: new MemoryStore() }),
    );
    serving.resolve(appservice);
    appservice.on("INVITE", async ({ room_id, state_key }) => {
      await appservice.intent(state_key).joinRoom(room_id);
    });
    appservice.on("m.room.message", async ({ room_id, content }) => {
      await appservice.intent("_echo_parrot").sendText(room_id, `Parrot: ${content.body}`);
    });
    const running = appservice.start();
    const store = new MemoryStore();
    await loginByDeviceCode({
      ...{ baseUrl: synapse.baseUrl, store, clientUri: "https://bot.example/", clock: hurried, log: false },
      onUserCode: async ({ user_code }) => void await oauth.approve(user_code, "alice"),
    });
    const session = await OAuthSession.resume({ store });
    assert(session !== undefined);
    const alice = stack.use(new Client({ ...session.clientOptions, ...options, store }));
    const heard = Promise.withResolvers<[string, boolean]>();
    alice.on("m.room.message", (event) => {
      if (event.sender !== alice.mxid) heard.resolve([event.content.body, encryptionOf(event) !== undefined]);
    });
    const joined = Promise.withResolvers<void>();
    alice.on("JOIN", ({ sender }) => sender === appservice.userId && joined.resolve());
    const following = alice.start();
    const room = await alice.createRoom({ invitees: [appservice.userId], initialState: [MEGOLM] });
    await within(joined.promise, "the own user joins");
    await alice.sendText(room, "secret");
    assertEquals(await within(heard.promise, "the parrot answers"), ["Parrot: secret", true]);
    await alice.close();
    await appservice.close();
    await Promise.all([following, running]);
  },
});
