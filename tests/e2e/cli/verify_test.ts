import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import type { VerificationRequest } from "@greenroom/matrix/types";
import type { Place } from "../../cli/support/greenroom.ts";
import { within } from "../support/deadline.ts";
import { atTerminal, terminalTest } from "./support/desk.ts";
import { scanned } from "./support/scanner.ts";
import type { TerminalProcess } from "./support/terminal.ts";

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
  return atTerminal(["verify", ...args], { cwd: place.folder });
}

/** What the other side compares. */
async function emojiOf(request: VerificationRequest): Promise<string[]> {
  return (await within(request.compare(), "they compare")).emoji?.map(({ name }) => name) ?? [];
}

/** Asks the bot for a verification; the person at its terminal is asked whether to take it. */
async function ask(
  alice: Client,
  { place, terminal }: { readonly place: Place; readonly terminal: TerminalProcess },
): Promise<VerificationRequest> {
  await terminal.expect("Waiting for a request");
  const request = await alice.crypto?.requestVerification(place.bot.userId, { ways: ["sas"] });
  assert(request !== undefined);
  await terminal.expect("@alice:localhost");
  await terminal.expect("Is that you?");
  return request;
}

/** Has the person at the terminal take a request. */
async function take(request: VerificationRequest, terminal: TerminalProcess): Promise<void> {
  await terminal.type("y");
  while (request.phase === "requested") await request.changed();
}

/** What a request fails with. */
async function failureOf({ done }: VerificationRequest) {
  return await within(done.then(() => undefined, (reason) => reason), "it ends");
}

async function nextRequest({ crypto }: Client): Promise<VerificationRequest> {
  for await (const request of crypto?.verificationRequests ?? []) return request;
  throw new Error("There was none");
}

terminalTest("verify asks a user, shows the same emoji, and both trust each other then", async (place) => {
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
});

terminalTest(
  "Ctrl-C while verify waits for the other side cancels the request, and ends with 130",
  async (place) => {
    await using alice = await person(place);
    await using asking = verify(place, "@alice:localhost");
    const request = await nextRequest(alice);
    await asking.expect("Ctrl-C ends it.");
    await asking.type("\x03");
    assertEquals(await asking.ended(), 130, asking.shown);
    const error = await failureOf(request);
    assertEquals(error?.problem, "m.user");
    await using waiting = verify(place);
    await waiting.expect("Waiting for a request");
    await waiting.type("\x03");
    assertEquals(await waiting.ended(), 130, waiting.shown);
    assertStringIncludes(waiting.shown, "Cancelled");
  },
);

terminalTest("Ctrl-C while verify sends its request cancels that, and ends with 130", async (place) => {
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
  const error = await failureOf(request);
  assertEquals(error?.problem, "m.user");
  assert(!asking.shown.includes("Asked"), asking.shown);
});

terminalTest(
  "Ctrl-C at a request that has come, and behind its acceptance, cancels it, and ends with 130",
  async (place) => {
    await using alice = await person(place);
    for (const isAccepted of [false, true]) {
      await using terminal = verify(place);
      const request = await ask(alice, { place, terminal });
      if (isAccepted) await take(request, terminal);
      await terminal.type("\x03");
      assertEquals(await terminal.ended(), 130, terminal.shown);
      const error = await failureOf(request);
      assertEquals([error?.problem, error?.by], ["m.user", "them"]);
    }
  },
);

terminalTest("verify waits for a request, and trusts nobody whose emoji differ", async (place) => {
  await using alice = await person(place);
  await using terminal = verify(place);
  const request = await ask(alice, { place, terminal });
  await take(request, terminal);
  await request.startSas();
  await emojiOf(request);
  await terminal.expect("Does the other device");
  await terminal.type("n");
  assertEquals(await terminal.ended(), 4, terminal.shown);
  const error = await failureOf(request);
  assertEquals(error?.problem, "m.mismatched_sas");
});

terminalTest("verify --qr shows a code; who scans it, and is confirmed, is trusted", async (place) => {
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
});

terminalTest("verify --qr says that a device scans none, and goes on with emoji", async (place) => {
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
});
