/**
 * A stranger gets the keys of what the users of an application service send, though the application refuses
 * everybody whom it does not expect: it said so of its own user, and the others were not told.
 *
 * What must hold: what was chosen about encryption holds for every user of an application service,
 * but for what is of one account alone; and what was chosen about requests, for every request of it.
 *
 * The class of mistake: options of a client that are copied by name into another that is made of it.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, type ClientOptions, type EncryptionOptions } from "@greenroom/matrix";
import { EncryptionError } from "@greenroom/matrix/errors";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import { ghostEncryption } from "../../../../src/appservice/ghosts.ts";
import { type AppserviceScene, appserviceScene } from "../../../appservice/scene.ts";
import { ENCRYPTED } from "../../../client/support/encrypted_room.ts";
import { heard } from "../../../client/support/stage.ts";
import { KEY as RECOVERY_KEY } from "../../../encryption/identity/scene.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const GHOST = "@_echo_polly:localhost";

async function withBob({ stage }: AppserviceScene): Promise<{ bob: Client; roomId: RoomID }> {
  const bob = stage.client("bob", { encryption: EVERYBODY });
  await bob.crypto?.start();
  const roomId = await bob.createRoom({ preset: "public_chat", initialState: ENCRYPTED });
  await bob.syncOnce();
  return { bob, roomId };
}

Deno.test("T133: who is refused by onNewRecipient gets no key of any user of an application service", async () => {
  await using scene = await appserviceScene({ encryption: true, isServing: false });
  const asked: [RoomID, UserID[]][] = [];
  let mayRead = false;
  const serving = scene.serving = scene.instance({
    encryption: {
      ...EVERYBODY,
      onNewRecipient: (room, users) => {
        asked.push([room, users.map(({ userId }) => userId)]);
        return mayRead;
      },
    },
  });
  const { bob, roomId } = await withBob(scene);
  const read = heard(bob);
  const ghost = serving.intent("_echo_polly");
  await assertRejects(() => ghost.sendText(roomId, "secret"), EncryptionError);
  await bob.syncOnce();
  const said = scene.stage.homeserver.room(roomId).messages.filter(({ sender }) => sender === GHOST);
  assertEquals([read, said], [[], []]);
  assert(asked.every(([room, users]) => room === roomId && users.includes("@bob:localhost")));
  mayRead = true;
  await ghost.sendText(roomId, "hello");
  await bob.syncOnce();
  assertEquals(read, ["hello"]);
});

/** What can be chosen about encryption, each otherwise than by default. */
const CHOSEN: Required<Omit<EncryptionOptions, "passphrase">> & Pick<EncryptionOptions, "passphrase"> = {
  ...{ sendTo: "verified", accept: "cross-signed", unencrypted: "deliver", answerKeyRequests: true },
  ...{ shareHistory: true, onNewRecipient: () => true, verification: { acceptFrom: ["@owner:localhost"] } },
  ...{
    recoveryKey: RECOVERY_KEY,
    onRecoveryKey: () => {},
    password: "secret",
    authentication: {},
  },
  ...{ backup: true, dehydratedDevice: true, passphrase: undefined },
};
const OF_ALL = [
  "sendTo",
  "accept",
  "unencrypted",
  "answerKeyRequests",
  "shareHistory",
  "onNewRecipient",
] as const;

Deno.test("T133: each choice about encryption holds for all users, or is of one account alone", () => {
  const given = ghostEncryption(CHOSEN, GHOST) as EncryptionOptions;
  for (const name of OF_ALL) assertEquals(given[name], CHOSEN[name] as unknown, name);
  assertEquals(Object.keys(given).sort(), [...OF_ALL, "recoveryKey", "backup"].sort());
  assert(given.recoveryKey !== RECOVERY_KEY && given.backup === false);
  const unsigned = ghostEncryption({ onNewRecipient: CHOSEN.onNewRecipient }, GHOST);
  assertEquals(unsigned, { onNewRecipient: CHOSEN.onNewRecipient });
});

Deno.test("T133: what is chosen about requests holds for those of every user, and for discovery", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const agents = new Set<string | null>();
  const recording: typeof fetch = (input, init) => {
    agents.add(new Request(input, init).headers.get("user-agent"));
    return scene.stage.homeserver.fetch(input, init);
  };
  const options = {
    fetch: recording,
    userAgent: "greenroom-test",
    maxResponseSize: 2_000,
    retry: false,
  } as const;
  const serving = scene.instance(options);
  const ghost = serving.intent("_echo_polly");
  await serving.botClient.joinRoom(scene.roomId);
  await ghost.sendText(scene.roomId, "x".repeat(3_000));
  for (
    const act of [
      () => ghost.getMessages(scene.roomId, "b", undefined),
      () => serving.botClient.getMessages(scene.roomId, "b", undefined),
    ]
  ) {
    await assertRejects(act, Error, "2000");
  }
  assertEquals([...agents], ["greenroom-test"]);
  agents.clear();
  const client: Partial<ClientOptions> = {
    mxid: "@alice:localhost",
    userAgent: "greenroom-test",
    retry: false,
  };
  await using found = new Client({
    ...client,
    fetch: (input, init) => {
      agents.add(new Request(input, init).headers.get("user-agent"));
      return Promise.resolve(Response.json({}, { status: 404 }));
    },
  });
  await found.whoami().catch(() => {});
  assertEquals([...agents], ["greenroom-test"]);
});
