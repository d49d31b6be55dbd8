/**
 * A member of a room sends events of sessions that are made up, each of which has this device ask
 * its user's other devices for a key, until it asks for no more; so nobody's true keys are asked
 * for. And the other way round: a user's many devices ask this one for keys, until it answers
 * nobody else.
 *
 * What must hold: whoever has had less than an equal part of what may be asked for, or answered,
 * still gets it, in the same room and in others; a request that waits for its answer goes only for
 * another of who has the most; and the number of all stays bounded.
 *
 * The class of mistake: a rate that is limited for all together is a thing that one can use up for
 * the others, as a list that is limited is one that one can fill (T82). What is limited needs a
 * part for each who can use it.
 */

import { assert, assertEquals } from "@std/assert";
import type { MessageEvent, UserID } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { Asker, forwarded } from "../../requests/asker.ts";
import { ALICE, knownSender, MALLORY, newDevice, ROOM, Sender } from "../../megolm/support.ts";

const PERIOD_MS = 10 * 60 * 1_000;
const ask = { policy: { answerKeyRequests: true } };

/** Events of unknown sessions. */
function junk(event: MessageEvent, count: number, change: Partial<MessageEvent> = {}): MessageEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const content = { ...event.content, session_id: `${change.sender}${change.room_id}${index}` };
    return { ...event, ...change, content };
  });
}

async function wantAll(asker: Asker, events: readonly MessageEvent[]): Promise<number> {
  await asker.step(async (tx) => {
    for (const event of events) await asker.requests.want(tx, event);
  });
  return (await asker.sent()).length;
}

Deno.test("T87: a member's flood does not stop requests for others' keys in that room", async () => {
  const asker = new Asker();
  asker.ownDevice("PHONE");
  const alice = new Sender(asker, newDevice(asker, ALICE)).say("x");
  assertEquals(await wantAll(asker, junk(alice, 200, { sender: MALLORY })), 50);
  assertEquals(await wantAll(asker, [alice]), 1);
  assertEquals(await wantAll(asker, junk(alice, 200, { sender: ALICE })), 24);
  assertEquals(await wantAll(asker, junk(alice, 200, { sender: MALLORY })), 0);
});

Deno.test("T87: a member's flood in many rooms does not stop requests for others' keys", async () => {
  const asker = new Asker();
  asker.ownDevice("PHONE");
  const alice = new Sender(asker, newDevice(asker, ALICE)).say("x");
  const flood = Array.from(
    { length: 20 },
    (_, room) => junk(alice, 50, { sender: MALLORY, room_id: `!${room}:example.org` }),
  ).flat();
  assertEquals(await wantAll(asker, flood), 500);
  assertEquals(await wantAll(asker, [alice]), 1);
});

Deno.test("T87: however many members make sessions up, what is asked for is bounded", async () => {
  const asker = new Asker();
  asker.ownDevice("PHONE");
  const alice = new Sender(asker, newDevice(asker, ALICE)).say("x");
  const flood = Array.from(
    { length: 200 },
    (_, member) => junk(alice, 60, { sender: `@member${member}:example.org` as UserID }),
  ).flat();
  const sent = await wantAll(asker, flood);
  assert(sent >= 50 && sent <= 50 * (1 + Math.log(50)), `${sent}`);
});

for (const restarts of [false, true]) {
  const over = restarts ? ", over a restart" : "";
  Deno.test(`T87: a flood that lasts does not have it forgotten that another's key was asked for${over}`, async () => {
    const clock = new TestClock();
    const asker = new Asker({ clock });
    const phone = asker.ownDevice("PHONE");
    const alice = new Sender(asker, newDevice(asker, ALICE));
    await wantAll(asker, [alice.say("x")]);
    for (let period = 0; period < 21; period++) {
      if (restarts && period === 20) await asker.reopen();
      await clock.tick(PERIOD_MS);
      const flood = junk(alice.say("junk"), 50, { sender: MALLORY }).map((event) => ({
        ...event,
        content: { ...event.content, session_id: `${period}-${event.content.session_id}` },
      }));
      assertEquals(await wantAll(asker, flood), 50);
    }
    const ref = await asker.forward(phone, forwarded(asker, alice));
    assertEquals(ref, { roomId: ROOM, sessionId: alice.sessionId });
  });
}

Deno.test("T87: a user whose devices request keys without end does not stop answers to others", async () => {
  const asker = new Asker(ask);
  const sender = await knownSender(asker);
  for (let number = 0; number < 12; number++) {
    const device = asker.devices.put(newDevice(asker, MALLORY, { deviceId: `D${number}` }));
    asker.shared.set(device.curve25519, 0);
    for (let time = 0; time < 100; time++) await asker.ask(device, sender, { request_id: `${time}` });
  }
  assertEquals((await asker.sent()).length, 1_000);
  await asker.ask(asker.ownDevice("PHONE"), sender);
  assertEquals((await asker.sent()).map(([, device]) => device), ["PHONE"]);
});

Deno.test("T87: a user's many devices that wait for an answer displace no others", async () => {
  const asker = new Asker(ask);
  const sender = await knownSender(asker);
  const phone = asker.ownDevice("PHONE");
  asker.unreachable.add(phone.curve25519);
  await asker.ask(phone, sender);
  for (let number = 0; number < 201; number++) {
    const device = asker.devices.put(newDevice(asker, MALLORY, { deviceId: `D${number}` }));
    asker.shared.set(device.curve25519, 0);
    asker.unreachable.add(device.curve25519);
    await asker.ask(device, sender);
  }
  asker.unreachable.clear();
  await asker.step((tx) => asker.requests.answers.retry(tx));
  assert((await asker.sent()).some(([, device]) => device === "PHONE"));
});
