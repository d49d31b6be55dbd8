/**
 * A server, or an attacker with its help, wants a device trusted again that the application, or the
 * device's user, does not trust any more: it hides the device, so that its trust when its key came
 * is used in place of its present trust.
 *
 * What must hold: the application's last decision wins, also about a hidden device, and it can be
 * made about one; a device of a replaced identity loses its trust, hidden or not; neither restarts
 * nor pruning bring trust back.
 *
 * The class of mistake: a verdict was stored in place of the facts that it follows from. What may
 * be revoked must be computed each time, and never copied to where the revocation does not reach.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix/errors";
import { type LocalTrust, SyncStream } from "@greenroom/matrix/types";
import { Bot } from "../../engine/bot.ts";
import { EngineServer, ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";
import { FakeUser } from "../../support/fake_user.ts";

const CAROL = "@carol:example.org";
const DAY = 24 * 60 * 60 * 1_000;

/** Alice's client, and Carol, whose device has sent a key while everything was well. */
class Plot {
  readonly server = new EngineServer();
  readonly session = new RawSession();
  readonly identity = new FakeUser(CAROL).crossSign();
  device!: RawDevice;
  alice!: Bot;

  static async begin({ vouched = true, said = "verified" as LocalTrust | undefined } = {}): Promise<Plot> {
    const plot = new Plot();
    const { server } = plot;
    server.identities.set(CAROL, plot.identity);
    if (!vouched) plot.identity.unsigned.add("PHONE");
    plot.alice = await Bot.open(server, { userId: "@alice:example.org", deviceId: "ALICE" });
    plot.device = new RawDevice(server, CAROL, "PHONE").publish();
    server.member(CAROL, "join");
    await plot.alice.sync();
    await plot.alice.ready();
    if (said !== undefined) await plot.say(said);
    const key = plot.device.message(plot.alice, "m.room_key", plot.session.roomKey(ROOM));
    await plot.alice.sync({ toDevice: [key] });
    return plot;
  }

  /** The application says something of the device. */
  say(trust: LocalTrust | undefined): Promise<unknown> {
    const { userId, deviceId, ed25519 } = this.device.own;
    return this.alice.engine.steps.setDeviceTrust({ userId, deviceId, ed25519, trust });
  }

  /** The server shows the device no more. */
  async hide(): Promise<void> {
    this.server.show(this.device.own, "hidden");
    await this.alice.sync();
  }

  /** The server shows the device again. */
  async show(): Promise<void> {
    this.server.show(this.device.own, this.device.deviceKeys);
    await this.alice.sync();
  }

  /** Carol, or the server, makes another identity, which vouches for the devices that are shown. */
  async replace(): Promise<void> {
    this.identity.crossSign();
    this.server.show(this.device.own);
    await this.alice.sync();
  }

  /** The application has compared the identity that is there now. */
  acknowledge(): Promise<unknown> {
    return this.alice.engine.steps.acknowledgeIdentity({
      userId: CAROL,
      master: this.identity.master?.publicKey ?? "",
    });
  }

  /** What is not needed any more is let go of, after some days. */
  async prune(days: number): Promise<void> {
    await this.server.clock.tick(days * DAY);
    while (!(await this.alice.engine.prune()).done);
  }

  /** How far the device is trusted that an event came from which was encrypted with the session. */
  async trust(): Promise<string | undefined> {
    const event = this.server.publish(
      this.device.own,
      this.session.event(ROOM, "hello"),
      crypto.randomUUID(),
    );
    // It is history, and looked at when the application asks for it.
    this.server.mailbox(this.alice).encrypted.length = 0;
    const result = await this.alice.engine.decrypt({ ...event, source: SyncStream.TIMELINE });
    return "event" in result ? result.encryption.senderTrust : result.code;
  }
}

/** What happens after the key came, and how far its device is trusted then. */
const STORIES: Readonly<Record<string, [work: (plot: Plot) => Promise<unknown>, expected: string]>> = {
  "was verified and is hidden": [(plot) => plot.hide(), "verified"],
  "is not verified any more, then hidden": [
    async (plot) => (await plot.say(undefined), await plot.hide()),
    "unverified-identity",
  ],
  "was blacklisted, then hidden": [
    async (plot) => (await plot.say("blacklisted"), await plot.hide()),
    "unsigned-device",
  ],
  "was hidden, and is not verified any more": [
    async (plot) => (await plot.hide(), await plot.say(undefined)),
    "unverified-identity",
  ],
  "was hidden, and then blacklisted": [
    async (plot) => (await plot.hide(), await plot.say("blacklisted")),
    "unsigned-device",
  ],
  "was blacklisted while it was hidden, and is shown again": [
    async (plot) => (await plot.hide(), await plot.say("blacklisted"), await plot.show()),
    "unsigned-device",
  ],
  "was blacklisted and hidden, and then is not blacklisted any more": [
    async (plot) => (await plot.say("blacklisted"), await plot.hide(), await plot.say(undefined)),
    "unverified-identity",
  ],
  "lost its identity, then was hidden": [
    async (plot) => {
      await plot.say(undefined);
      plot.identity.unsigned.add("PHONE");
      await plot.replace();
      await plot.hide();
    },
    "unsigned-device",
  ],
  "is vouched for by an identity that took the place of its own, then hidden": [
    async (plot) => (await plot.say(undefined), await plot.replace(), await plot.hide()),
    "unverified-identity",
  ],
  "was hidden, and then its identity was replaced": [
    async (plot) => (await plot.say(undefined), await plot.hide(), await plot.replace()),
    "unsigned-device",
  ],
  "was hidden, and then an identity took the place of its own that was accepted": [
    async (plot) => {
      await plot.say(undefined);
      await plot.hide();
      await plot.replace();
      await plot.acknowledge();
    },
    "unsigned-device",
  ],
  "is vouched for by an identity that was accepted, then hidden": [
    async (plot) => {
      await plot.say(undefined);
      await plot.replace();
      await plot.acknowledge();
      await plot.hide();
    },
    "unverified-identity",
  ],
  "was vouched for by an identity that was accepted, and then replaced while it was hidden": [
    async (plot) => {
      await plot.say(undefined);
      await plot.replace();
      await plot.acknowledge();
      await plot.hide();
      await plot.replace();
    },
    "unsigned-device",
  ],
};

for (const [story, [work, expected]] of Object.entries(STORIES)) {
  Deno.test(`T70: a device that ${story} counts as ${expected}, whatever it was when its key came`, async () => {
    const plot = await Plot.begin();
    await work(plot);
    assertEquals(await plot.trust(), expected, "at once");
    await plot.alice.restart();
    assertEquals(await plot.trust(), expected, "after a restart");
    await plot.alice.sync({ deviceLists: { changed: [], left: [CAROL] } });
    for (const days of [31, 400, 4_000]) {
      await plot.prune(days);
      assertEquals(await plot.trust(), expected, `after ${days} days without a room in common`);
    }
    plot.server.show(plot.device.own); // she is back, and the device is where it was
    await plot.alice.sync();
    assertEquals(await plot.trust(), expected, "when she is back");
  });
}

Deno.test("T70: events of a device that was looked at while it was trusted are not trusted later on", async () => {
  const plot = await Plot.begin({ vouched: false });
  assertEquals(await plot.trust(), "verified"); // so that whatever is remembered of it is
  await plot.say("blacklisted");
  await plot.hide();
  assertEquals(await plot.trust(), "unsigned-device");
});

Deno.test("T70: a device with other keys under the name of one that is gone changes nothing of what was said", async () => {
  for (const said of ["verified", "blacklisted", undefined] as const) {
    const plot = await Plot.begin({ vouched: false });
    await plot.say(said);
    await plot.hide();
    const other = new RawDevice(plot.server, CAROL, "PHONE");
    plot.server.show(other.own, other.deviceKeys);
    await plot.alice.sync();
    assertEquals(await plot.alice.engine.devicesOf([CAROL]), []);
    assertEquals(await plot.trust(), said === "verified" ? "verified" : "unsigned-device");
    const { userId, deviceId, ed25519 } = other.own;
    const trust = "verified";
    await assertRejects(
      () => plot.alice.engine.steps.setDeviceTrust({ userId, deviceId, ed25519, trust }),
      ValueError,
      "other keys",
    );
  }
});

Deno.test("T70: a blacklisted device does not come back under another name", async () => {
  const plot = await Plot.begin();
  await plot.say("blacklisted");
  await plot.hide();
  const { curve25519 } = plot.device.own;
  const renamed = new FakeUser(CAROL, "TABLET");
  const tablet = renamed.device("TABLET");
  plot.server.show(
    { userId: CAROL, deviceId: "TABLET" },
    renamed.deviceKeys({ ...tablet, curve25519 }) as never, // as the server shows it
  );
  await plot.alice.sync();
  assertEquals(await plot.alice.engine.devicesOf([CAROL]), []);
  assertEquals((await plot.alice.ready()).shared, []);
  assertEquals(await plot.trust(), "unsigned-device");
});

Deno.test("T70: a thousand devices that come and go displace neither the application's decisions nor vouched-for devices", async () => {
  const plot = await Plot.begin();
  await plot.say(undefined);
  await plot.hide();
  for (let crowd = 0; crowd < 3; crowd++) {
    const user = new FakeUser(CAROL, ...Array.from({ length: 600 }, (_, index) => `D${crowd}-${index}`));
    for (const each of user.devices) {
      plot.identity.unsigned.add(each.deviceId);
      plot.server.show({ userId: CAROL, deviceId: each.deviceId }, user.deviceKeys(each) as never);
    }
    await plot.alice.sync();
    for (const { deviceId } of user.devices) plot.server.show({ userId: CAROL, deviceId }, "hidden");
    await plot.alice.sync();
  }
  assertEquals(await plot.trust(), "unverified-identity");
  await plot.say("blacklisted");
  assertEquals(await plot.trust(), "unsigned-device");
});
