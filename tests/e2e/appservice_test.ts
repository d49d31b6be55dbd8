/**
 * An application service on a Synapse of its own, which has its registration.
 *
 * @module
 */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Client } from "@greenroom/matrix";
import {
  Appservice,
  AppservicePingError,
  createRegistration,
  type Registration,
  registrationToYaml,
} from "@greenroom/matrix/appservice";
import { freePort } from "../../tools/free_port.ts";
import { Synapse } from "../../tools/synapse.ts";
import { appserviceScene } from "./support/appservice_scene.ts";
import { within } from "./support/deadline.ts";
import { newUser, synapseTest } from "./support/synapse.ts";

synapseTest(
  "An application service on Synapse: ghosts come by invitation, answer, and are made when asked for",
  async () => {
    await using stage = await appserviceScene();
    const { alice, instance } = stage;
    const invited: string[] = [];
    const appservice = instance({
      queries: {
        user: (userId) => userId.includes("_echo_p") ? { displayname: "A ghost" } : undefined,
        async room(alias) {
          if (alias !== "#echo_hall:localhost") return false;
          await appservice.botClient.createRoom({ aliasLocalpart: "echo_hall", preset: "public_chat" });
          return true;
        },
      },
    });
    appservice.on("INVITE", ({ state_key }) => invited.push(state_key));
    stage.serve(appservice);
    const done = appservice.start();
    const roomId = await alice.createRoom({ preset: "private_chat", invitees: ["@_echo_parrot:localhost"] });
    const joined = Promise.withResolvers<void>();
    appservice.on("JOIN", ({ state_key }) => state_key === "@_echo_parrot:localhost" && joined.resolve(), {
      own: true,
    });
    await within(joined.promise, "the ghost joins");
    assertEquals(invited, ["@_echo_parrot:localhost"]);
    for (const text of ["a", "b", "c"]) await alice.sendText(roomId, text);
    assertEquals(await stage.read(3), ["1: a", "2: b", "3: c"]);
    assertEquals(stage.senders(), ["@_echo_parrot:localhost"]);
    assertEquals(await alice.getDisplayname("@_echo_parrot:localhost"), "A ghost");

    // A ghost that needs an invitation gets one of the own user, who has to be there.
    const named = appservice.intent("_echo_polly");
    await assertRejects(async () => await named.sendText(roomId, "no"));
    await alice.inviteUser(roomId, appservice.userId);
    const botJoined = Promise.withResolvers<void>();
    appservice.on("JOIN", ({ state_key }) => state_key === appservice.userId && botJoined.resolve(), {
      own: true,
    });
    await within(botJoined.promise, "the own user joins");
    await named.ensureProfile({ displayname: "Polly" });
    await named.sendText(roomId, "hello");
    assertEquals((await stage.read(4)).at(-1), "hello");

    const hall = await alice.joinRoom("#echo_hall:localhost");
    await alice.sendText(hall, "in the hall");
    assertEquals((await stage.read(5)).at(-1), "1: in the hall");
    assert(stage.statuses.includes(404) || stage.statuses.every((status) => status === 200));
    await appservice.stop();
    await done;
  },
);

synapseTest(
  "An application service that is down, started again, and repeated to, answers each message once",
  async () => {
    await using stage = await appserviceScene();
    const { alice, instance } = stage;
    const first = instance();
    stage.serve(first);
    const done = first.start();
    const roomId = await alice.createRoom({ preset: "public_chat" });
    await first.intent("_echo_parrot").joinRoom(roomId);
    await alice.sendText(roomId, "a");
    assertEquals(await stage.read(1), ["1: a"]);
    stage.serve(undefined);
    await first.close();
    await done.catch(() => {});
    await alice.sendText(roomId, "b");
    await alice.sendText(roomId, "c");
    const second = instance();
    stage.serve(second);
    const again = second.start(); // its ping has Synapse send at once
    assertEquals(await stage.read(3), ["1: a", "2: b", "3: c"]);
    await second.stop();
    await again;
    // Where no process stays, each transaction is handled with its request.
    await alice.sendText(roomId, "d");
    assertEquals(await stage.read(4), ["1: a", "2: b", "3: c", "4: d"]);
  },
);

synapseTest("start() says what is wrong with a registration that Synapse has otherwise", async () => {
  await using stage = await appserviceScene();
  const { registration, instance } = stage;
  const cases: [Partial<Registration>, string][] = [
    [{ hs_token: "other" }, "hs_token"],
    [{ as_token: "other" }, "as_token"],
    [{ id: "other" }, "another registration"],
  ];
  for (const [change, mend] of cases) {
    const appservice = instance({ registration: { ...registration, ...change } as Registration });
    stage.serve(appservice);
    const error = await assertRejects(async () => await appservice.start(), AppservicePingError);
    assertStringIncludes(error.message, mend);
  }
  stage.serve(undefined);
  const error = await assertRejects(async () => await instance().start(), AppservicePingError);
  assertStringIncludes(error.message, "said 502");
});

synapseTest(
  "An application service that is killed again and again, also between durable and answered, answers each message once",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "greenroom-appservice-" });
    const port = freePort();
    const registration = createRegistration({
      id: "echo",
      url: `http://127.0.0.1:${port}`,
      serverName: "localhost",
    });
    const file = `${folder}/registration.yaml`;
    await Deno.writeTextFile(file, registrationToYaml(registration));
    await using synapse = await Synapse.start({ appservices: [file], print() {} });
    const { accessToken, userId } = await newUser(synapse, "alice", { unlimited: "people" });
    const alice = new Client({ baseUrl: synapse.baseUrl, accessToken, log: false });
    const roomId = await alice.createRoom({ preset: "public_chat" });
    await using elsewhere = new Appservice({
      registration,
      baseUrl: synapse.baseUrl,
      serverName: "localhost",
      log: false,
    });
    await elsewhere.intent("_echo_parrot").joinRoom(roomId);
    const answers: string[] = [];
    let told = Promise.withResolvers<void>();
    alice.on("m.room.message", ({ sender, content }) => {
      if (sender === userId) return;
      answers.push(content.body);
      told.resolve();
      told = Promise.withResolvers();
    });
    const running = alice.start();
    let current: Deno.ChildProcess | undefined;
    const run = (killAfter: number): Deno.ChildProcess =>
      new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "-A", "--no-check", import.meta.resolve("./support/appservice_process.ts")],
          ...[file, synapse.baseUrl, `${folder}/store.db`, String(port), String(killAfter)],
        ],
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
    const ready = async (process: Deno.ChildProcess): Promise<void> => {
      const reader = process.stdout.getReader();
      await reader.read();
      await reader.cancel();
    };
    const texts: string[] = [];
    try {
      for (let kill = 0; kill < 8; kill++) {
        const process = current = run(kill % 2 === 0 ? 1 + kill % 3 : 0);
        await ready(process);
        for (let message = 0; message < 4; message++) {
          texts.push(`${kill}.${message}`);
          await alice.sendText(roomId, texts.at(-1) ?? "");
        }
        // Every other one kills itself, when a transaction is durable.
        if (kill % 2 === 1) process.kill("SIGKILL");
        await within(process.status, "the process ends");
      }
      const last = current = run(0);
      await ready(last);
      const isAll = async () => {
        while (answers.length < texts.length) await told.promise;
      };
      await within(isAll(), "all messages are answered");
      last.kill("SIGTERM");
      await last.status;
      // Each is counted once, in the order of arrival: after a failure, Synapse may send a later
      // transaction before the one that failed.
      assertEquals(answers.map((answer) => answer.split(":")[0]), texts.map((_, index) => String(index + 1)));
      assertEquals(answers.map((answer) => answer.split(" ")[1]).sort(), texts.toSorted());
    } finally {
      if (current !== undefined) await killed(current);
      await alice.close();
      await running;
      await Deno.remove(folder, { recursive: true });
    }
  },
);

async function killed(process: Deno.ChildProcess): Promise<void> {
  try {
    process.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // it has ended
  }
  await process.status;
}
