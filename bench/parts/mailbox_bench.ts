/** A question to an actor and its answer: what every call within the client costs. */

import { spawn } from "../../src/actors/kernel/spawn.ts";

interface EchoProtocol {
  echo(body: { readonly text: string }): { readonly text: string };
}

const actor = spawn<EchoProtocol>({ name: "echo", handlers: { echo: (body) => body } });
const body = { text: "hello" };

Deno.bench("mailbox: one ask and its answer", async () => {
  await actor.ask("echo", body);
});

Deno.bench("mailbox: 50 asks at once", async () => {
  await Promise.all(Array.from({ length: 50 }, () => actor.ask("echo", body)));
});
