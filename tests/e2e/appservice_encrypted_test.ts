/**
 * An application service whose users encrypt, on Synapse (S64).
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { encryptionOf, MemoryStore } from "@greenroom/matrix";
import { UnknownDeviceError } from "@greenroom/matrix/errors";
import type { Appservice } from "@greenroom/matrix/appservice";
import type { DeviceID, EventID } from "@greenroom/matrix/types";
import { complaintsIn, recordingLogger } from "../actors/kernel/support.ts";
import { appserviceScene } from "./support/appservice_scene.ts";
import { within } from "./support/deadline.ts";
import { Peer } from "./support/peer/peer.ts";
import { peerTest } from "./support/peer/peer_test_case.ts";
import { read } from "./support/scene.ts";
import { newUser, synapseTest } from "./support/synapse.ts";
import { newRecoveryKey } from "../crypto/secrets/recovery_keys.ts";

const ENCRYPTED = [{
  type: "m.room.encryption",
  state_key: "",
  content: { algorithm: "m.megolm.v1.aes-sha2" },
}];

synapseTest(
  "Two ghosts encrypt, each with its own device, and the own user reads, over a restart too",
  async () => {
    await using stage = await appserviceScene({ encryption: true });
    const { alice, instance } = stage;
    const heard: unknown[] = [];
    const run = (): Appservice => {
      const appservice = instance();
      appservice.on("m.room.message", (event) => {
        heard.push([event.content.body, encryptionOf(event) !== undefined]);
      });
      stage.serve(appservice);
      return appservice;
    };
    const first = run();
    const done = first.start();
    const joined = Promise.withResolvers<void>();
    first.on("JOIN", ({ state_key }) => state_key === first.userId && joined.resolve(), { own: true });
    const roomId = await alice.createRoom({
      preset: "private_chat",
      initialState: ENCRYPTED,
      invitees: [first.userId],
    });
    await within(joined.promise, "the own user joins");
    const read: unknown[] = [];
    alice.on("m.room.message", (event) => {
      if (event.sender !== alice.mxid) {
        read.push([event.sender, event.content.body, encryptionOf(event)?.senderDevice]);
      }
    });
    await first.intent("_echo_polly").sendText(roomId, "Polly here");
    await alice.sendText(roomId, "secret one");
    await stage.read(2);
    await first.close();
    await done.catch(() => {});
    const second = run();
    const again = second.start();
    await alice.sendText(roomId, "secret two");
    await stage.read(3);
    assertEquals(heard, [["secret one", true], ["secret two", true]]);
    assertEquals(read, [
      ["@_echo_polly:localhost", "Polly here", "GREENROOM"],
      ["@_echo_parrot:localhost", "1: secret one", "GREENROOM"],
      ["@_echo_parrot:localhost", "2: secret two", "GREENROOM"],
    ]);
    await second.stop();
    await again;
    // Where no process stays, each transaction is handled with its request.
    await alice.sendText(roomId, "secret three");
    assertEquals((await stage.read(4)).at(-1), "3: secret three");
  },
);

synapseTest(
  "Where only signed devices are believed, a person who speaks first is heard, not announced as unread, and reads what a ghost answers",
  async () => {
    const recoveryKey = newRecoveryKey();
    await using stage = await appserviceScene({ encryption: true, how: { recoveryKey } });
    const { alice, instance } = stage;
    const log = recordingLogger();
    const serving = instance({ log });
    stage.serve(serving);
    const done = serving.start();
    const joined = Promise.withResolvers<void>();
    serving.on("JOIN", ({ state_key }) => state_key === serving.userId && joined.resolve(), { own: true });
    const roomId = await alice.createRoom({ initialState: ENCRYPTED, invitees: [serving.userId] });
    await within(joined.promise, "the own user joins");
    await alice.sendText(roomId, "hello");
    assertEquals(await stage.read(1), ["1: hello"]);
    await serving.close(); // which says what is still unread
    await done;
    assertEquals(complaintsIn(log), []);
  },
);

synapseTest(
  "Keys that Synapse drops from transactions while the application service is down are read when it is back",
  async () => {
    await using stage = await appserviceScene({ encryption: true });
    const { alice, instance } = stage;
    const undecryptable: unknown[] = [];
    const run = (): Appservice => {
      const appservice = instance();
      appservice.on("UNDECRYPTABLE", ({ reason }) => undecryptable.push(reason.message));
      stage.serve(appservice);
      return appservice;
    };
    const first = run();
    const done = first.start();
    const joined = Promise.withResolvers<void>();
    first.on("JOIN", ({ state_key }) => state_key === first.userId && joined.resolve(), { own: true });
    const roomId = await alice.createRoom({ initialState: ENCRYPTED, invitees: [first.userId] });
    await within(joined.promise, "the own user joins");
    await alice.sendText(roomId, "a");
    await stage.read(1);
    // Down, and back: with the same process, and with another one.
    for (const [round, isNew] of [false, true].entries()) {
      const refused = stage.statuses.filter((status) => status === 502).length;
      stage.serve(undefined);
      if (isNew) {
        await first.close();
        await done.catch(() => {});
      }
      const down = async (): Promise<void> => {
        while (stage.statuses.filter((status) => status === 502).length === refused) await alice.whoami();
      };
      await alice.sendText(roomId, `b${round}`);
      await within(down(), "Synapse notices");
      await alice.crypto?.discardGroupSession(roomId);
      await alice.sendText(roomId, `c${round}`);
      const back = isNew ? run() : first;
      stage.serve(back);
      if (isNew) void back.start().catch(() => {});
      else await back.ping(); // has Synapse send at once
      await stage.read(3 + 2 * round);
    }
    assertEquals(await stage.read(5), ["1: a", "2: b0", "3: c0", "4: b1", "5: c1"]);
    assertEquals(undecryptable, []);
  },
);

synapseTest(
  "Devices that an administrator of Synapse deletes are made anew: a ghost's with its next message, the own one with the next process",
  async () => {
    await using stage = await appserviceScene({ encryption: true });
    const { alice, instance, synapse } = stage;
    const { accessToken } = await newUser(synapse, "admin", { admin: true });
    const loseDevice = async (userId: string): Promise<void> => {
      const path = `/_synapse/admin/v2/users/${encodeURIComponent(userId)}/devices/GREENROOM`;
      const headers = { authorization: `Bearer ${accessToken}` };
      const response = await fetch(`${synapse.baseUrl}${path}`, { method: "DELETE", headers });
      await response.body?.cancel();
      assertEquals(response.status, 200);
    };
    const first = instance({ lease: { duration: 2_000 } });
    stage.serve(first);
    const ended = assertRejects(async () => await first.start(), UnknownDeviceError);
    const roomId = await alice.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
    await first.botClient.joinRoom(roomId);
    const polly = first.intent("_echo_polly");
    await polly.sendText(roomId, "before");
    await stage.read(1);
    await loseDevice("@_echo_polly:localhost");
    await assertRejects(async () => await polly.sendText(roomId, "lost"), UnknownDeviceError);
    await polly.sendText(roomId, "after");
    assertEquals(await stage.read(2), ["before", "after"]);
    await loseDevice(first.userId);
    await alice.sendText(roomId, "for nobody"); // has the application service look what its device was sent
    await within(ended, "the process ends");
    await first.close();
    const second = instance();
    stage.serve(second);
    const done = second.start();
    await second.botClient.sendText(roomId, "here again"); // its keys are there
    await stage.read(3);
    await alice.crypto?.discardGroupSession(roomId);
    await alice.sendText(roomId, "hello");
    assertEquals((await stage.read(4)).at(-1)?.replace(/^\d+/, "n"), "n: hello");
    await second.stop();
    await done;
  },
);

peerTest(
  "S64 js_sdk that shuts out unsigned devices reads what ghosts and the own user say, over a new store too, and is read",
  ["js_sdk"],
  async () => {
    const recoveryKey = newRecoveryKey();
    await using stage = await appserviceScene({ encryption: true, how: { recoveryKey } });
    await using peer = await Peer.start("js_sdk", stage.synapse, "js");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    await peer.call("setIsolation", { onlySigned: true });
    const reads = async (sent: Promise<EventID>, sender: string, text: string): Promise<void> => {
      const eventId = await sent;
      const { body, ...said } = await peer.message((message) => message.eventId === eventId);
      assertEquals([body, said.sender, said.encrypted], [text, sender, true]);
    };
    const first = stage.instance();
    stage.serve(first);
    const done = first.start();
    const roomId = await first.botClient.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
    await peer.join(roomId, { encrypted: true });
    await reads(first.botClient.sendText(roomId, "The own user here"), first.userId, "The own user here");
    const polly = "@_echo_polly:localhost";
    await reads(first.intent("_echo_polly").sendText(roomId, "Polly here"), polly, "Polly here");
    await peer.sendText(roomId, "hello");
    const answer = await peer.message(({ body }) => body === "1: hello");
    assertEquals([answer.sender, answer.encrypted], ["@_echo_parrot:localhost", true]);
    await first.close();
    await done.catch(() => {});

    // The same identities, with a device and a store that are new.
    const second = stage.instance({ store: new MemoryStore(), deviceId: "SECOND" as DeviceID });
    stage.serve(second);
    const again = second.start();
    await reads(second.intent("_echo_polly").sendText(roomId, "Polly again"), polly, "Polly again");
    await reads(second.botClient.sendText(roomId, "The own user again"), second.userId, "The own user again");
    await peer.sendText(roomId, "again");
    const last = await peer.message(({ body }) => body === "1: again");
    assertEquals([last.sender, last.encrypted], ["@_echo_parrot:localhost", true]);
    await second.stop();
    await again;
  },
);

peerTest(
  "S64 Two ghosts of an encrypted application service talk with other clients",
  ["js_sdk", "mautrix"],
  async () => {
    await using stage = await appserviceScene({ encryption: true });
    const appservice = stage.instance();
    stage.serve(appservice);
    const done = appservice.start();
    const roomId = await appservice.botClient.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
    await using js = await Peer.start("js_sdk", stage.synapse, "js");
    await using mautrix = await Peer.start("mautrix", stage.synapse, "mautrix");
    const peers = [js, mautrix];
    for (const peer of peers) await peer.join(roomId, { encrypted: true });
    const hello = await appservice.intent("_echo_polly").sendText(roomId, "hello");
    await read(peers, hello, "hello");
    for (const [index, speaker] of peers.entries()) {
      await speaker.sendText(roomId, `from ${speaker.kind}`);
      for (const peer of peers) {
        const body = `${index + 1}: from ${speaker.kind}`;
        const answer = await peer.message((message) => message.body === body);
        assertEquals([answer.sender, answer.encrypted], ["@_echo_parrot:localhost", true]);
      }
    }
    await appservice.stop();
    await done;
  },
);
