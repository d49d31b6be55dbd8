import { assertEquals } from "@std/assert";
import { type LedgerEntry, receivedByLastTwo } from "../../bench/kill/ledger.ts";

const start: LedgerEntry = { kind: "start" };
const received = (eventId: string): LedgerEntry => ({ kind: "received", eventId, body: "peer nio 1" });

Deno.test("receivedByLastTwo() has the messages that the process after a clean stop received again", () => {
  assertEquals(receivedByLastTwo([start, received("$a"), received("$b"), start, received("$b")]), ["$b"]);
});

Deno.test("receivedByLastTwo() leaves out what only a process before them, which was killed, had received", () => {
  assertEquals(receivedByLastTwo([start, received("$a"), start, received("$b"), start, received("$a")]), []);
});

Deno.test("receivedByLastTwo() has nothing if there was one process, or none", () => {
  assertEquals(receivedByLastTwo([start, received("$a"), received("$a")]), []);
  assertEquals(receivedByLastTwo([]), []);
});
