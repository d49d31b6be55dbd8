import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import type { VerificationRequest } from "@greenroom/matrix/types";
import { ENTRY, Place, plainEnv } from "../../cli/support/greenroom.ts";
import { within } from "../support/deadline.ts";
import { missing } from "../support/synapse.ts";
import { scanned } from "./support/scanner.ts";
import { TerminalProcess } from "./support/terminal.ts";

/** Somebody with Element, on the homeserver of the bot. */
async function person(place: Place): Promise<Client> {
  const { accessToken } = place.homeserver.createUser("alice", { password: "alice" });
  const alice = new Client({
    ...{ baseUrl: place.url, accessToken, store: new MemoryStore(), log: false },
    encryption: { password: "alice", onRecoveryKey() {} },
  });
  const synced = Promise.withResolvers<void>();
  alice.on("SYNC_SUCCESSFUL", () => synced.resolve());
  alice.start().catch(() => {});
  await synced.promise;
  return alice;
}

function verify(place: Place, ...args: readonly string[]): TerminalProcess {
  const program = [Deno.execPath(), "run", "-A", "--no-check", "--quiet", ENTRY, "verify", ...args];
  return new TerminalProcess(program, {
    cwd: place.folder,
    env: { ...plainEnv(), NO_COLOR: "1", TERM: "xterm" },
  });
}

/** What the other side compares. */
async function emojiOf(request: VerificationRequest): Promise<string[]> {
  return (await within(request.compare(), "they compare")).emoji?.map(({ name }) => name) ?? [];
}

async function nextRequest({ crypto }: Client): Promise<VerificationRequest> {
  for await (const request of crypto?.verificationRequests ?? []) return request;
  throw new Error("There was none");
}

Deno.test({
  name: "verify asks a user, shows the same emoji, and both trust each other then",
  ignore: missing,
  async fn() {
    await using place = await Place.make();
    await place.makeLoggedInBot();
    await using alice = await person(place);
    await using terminal = verify(place, "@alice:localhost");
    const request = await nextRequest(alice);
    await request.accept({ ways: ["sas"] });
    const names = await emojiOf(request);
    await terminal.expect("Does the other device");
    for (const name of names) assertStringIncludes(terminal.shown, `  ${name}\r\n`);
    await terminal.type("y");
    await request.confirm();
    assertEquals(await terminal.ended(), 0, terminal.shown);
    assertStringIncludes(terminal.shown, "Verified: @alice:localhost");
    assert((await request.done).isIdentityVerified);
  },
});

Deno.test({
  name: "Ctrl-C while verify waits for the other side cancels the request, and ends with 130",
  ignore: missing,
  async fn() {
    await using place = await Place.make();
    await place.makeLoggedInBot();
    await using alice = await person(place);
    await using asking = verify(place, "@alice:localhost");
    const request = await nextRequest(alice);
    await asking.expect("Ctrl-C ends it.");
    await asking.type("\x03");
    assertEquals(await asking.ended(), 130, asking.shown);
    const error = await within(request.done.then(() => undefined, (reason) => reason), "it is cancelled");
    assertEquals(error?.problem, "m.user");
    await using waiting = verify(place);
    await waiting.expect("Waiting for a request");
    await waiting.type("\x03");
    assertEquals(await waiting.ended(), 130, waiting.shown);
    assertStringIncludes(waiting.shown, "Cancelled");
  },
});

Deno.test({
  name: "Ctrl-C while verify sends its request cancels that, and ends with 130",
  ignore: missing,
  async fn() {
    await using place = await Place.make();
    await place.makeLoggedInBot();
    await using alice = await person(place);
    const room = await alice.createRoom({ invitees: [place.bot.userId] });
    {
      await using bot = new Client({ baseUrl: place.url, accessToken: place.bot.accessToken, log: false });
      await bot.joinRoom(room);
    }
    using held = place.homeserver.faults.add({
      kind: "hold-after",
      times: 1,
      match: { path: /\/send\/m\.room\.message\// },
    });
    await using asking = verify(place, "@alice:localhost", `--room=${room}`);
    const request = await nextRequest(alice);
    await asking.type("\x03");
    await asking.expect("in good order");
    held.release();
    assertEquals(await asking.ended(), 130, asking.shown);
    const error = await within(request.done.then(() => undefined, (reason) => reason), "it is cancelled");
    assertEquals(error?.problem, "m.user");
    assert(!asking.shown.includes("Asked"), asking.shown);
  },
});

Deno.test({
  name: "verify waits for a request, and trusts nobody whose emoji differ",
  ignore: missing,
  async fn() {
    await using place = await Place.make();
    await place.makeLoggedInBot();
    await using alice = await person(place);
    await using terminal = verify(place);
    await terminal.expect("Waiting for a request");
    const request = await alice.crypto?.requestVerification(place.bot.userId, { ways: ["sas"] });
    assert(request !== undefined);
    await terminal.expect("@alice:localhost");
    await terminal.expect("Is that you?");
    await terminal.type("y");
    while (request.phase === "requested") await request.changed();
    await request.startSas();
    await emojiOf(request);
    await terminal.expect("Does the other device");
    await terminal.type("n");
    assertEquals(await terminal.ended(), 4, terminal.shown);
    const error = await request.done.then(() => undefined, (reason) => reason);
    assertEquals(error?.problem, "m.mismatched_sas");
  },
});

Deno.test({
  name: "verify --qr shows a code; who scans it, and is confirmed, is trusted",
  ignore: missing,
  async fn() {
    await using place = await Place.make();
    await place.makeLoggedInBot();
    await using alice = await person(place);
    for (const keys of ["n", "y"]) {
      await using terminal = verify(place, "@alice:localhost", "--qr");
      const request = await nextRequest(alice);
      await request.accept({ ways: ["sas", "scan-qr"] });
      await terminal.expect("Scan it with the other device");
      const done = request.done.then(({ isIdentityVerified }) => isIdentityVerified, () => false);
      await request.scanQr(scanned(terminal.shown));
      await terminal.expect("has scanned this code?");
      await terminal.type(keys);
      assertEquals(
        [await terminal.ended(), await done],
        keys === "y" ? [0, true] : [4, false],
        terminal.shown,
      );
    }
  },
});

Deno.test({
  name: "verify --qr says that a device scans none, and goes on with emoji",
  ignore: missing,
  async fn() {
    await using place = await Place.make();
    await place.makeLoggedInBot();
    await using alice = await person(place);
    await using terminal = verify(place, "@alice:localhost", "--qr");
    const request = await nextRequest(alice);
    await request.accept({ ways: ["sas"] });
    await emojiOf(request);
    await terminal.expect("Does the other device show the same?");
    assertStringIncludes(terminal.shown, "There is no code");
    await terminal.type("y");
    await request.confirm();
    assertEquals(await terminal.ended(), 0, terminal.shown);
  },
});
