import { assert, assertEquals } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { newUser, synapseTest } from "../support/synapse.ts";
import { recoveryKeyOf } from "../../crypto/secrets/recovery_keys.ts";

synapseTest(
  "Synapse shows what was signed, so that it is uploaded once, of users and of own devices",
  async (server) => {
    const { baseUrl } = server;
    const [alice, bob] = [await newUser(server, "alice"), await newUser(server, "bob")];
    let uploads = 0;
    const counting: typeof fetch = (input, init) => {
      const request = new Request(input, init);
      if (request.url.includes("/keys/signatures/upload")) uploads++;
      return fetch(request);
    };
    await using theirs = new Client({
      baseUrl,
      accessToken: bob.accessToken,
      encryption: { recoveryKey: recoveryKeyOf(1) },
    });
    await theirs.crypto?.start();
    const { access_token: token } = await theirs.login({
      identifier: alice.localpart,
      password: alice.password,
      deviceId: "PLAIN",
    });
    const plainStore = new MemoryStore();
    await using plain = new Client({ baseUrl, accessToken: token, encryption: true, store: plainStore });
    await plain.crypto?.start();
    await plain.crypto?.idle();
    const store = new MemoryStore();
    await using ours = new Client({
      baseUrl,
      accessToken: alice.accessToken,
      encryption: { recoveryKey: recoveryKeyOf(2) },
      store,
      fetch: counting,
    });
    await ours.crypto?.start();
    await ours.crypto?.idle();
    const seen = await ours.crypto?.getIdentity(bob.userId);
    const devices = await ours.crypto?.getDevices(alice.userId);
    const device = devices?.find(({ deviceId }) => deviceId === "PLAIN");
    assert(seen !== undefined && device !== undefined);
    await ours.crypto?.verifyUser(seen);
    await ours.crypto?.verifyDevice(device);
    await ours.crypto?.idle();
    const own = await ours.crypto?.getIdentity(alice.userId);
    assert(own !== undefined);
    await plain.crypto?.verifyUser(own); // which this device signs with its own key
    await plain.crypto?.idle();
    for (const each of [store, plainStore]) {
      const keys = (await Array.fromAsync(each.list([]))).map(({ key }) => key);
      assertEquals(keys.filter((key) => key.includes("signature_due")), [], "nothing is left to upload");
    }
    assert(uploads <= 3, `${uploads} uploads`);
  },
);
