/** A message to an actor and its answer: what every call within the client costs. */

import { spawn } from "../../src/actors/kernel/mod.ts";

class Echo {
  echo(body: { readonly text: string }): { readonly text: string } {
    return body;
  }
}

const actor = spawn({ name: "echo", handlers: new Echo() });
const body = { text: "hello" };

Deno.bench("channel: one message and its answer", async () => {
  await actor.echo(body);
});

Deno.bench("channel: 50 messages at once", async () => {
  await Promise.all(Array.from({ length: 50 }, () => actor.echo(body)));
});
