/**
 * A Worker with the actor of the contract suite in it. Its name is the capacity of the mailbox, or "crash" for a Worker
 * that fails as soon as it is spoken to.
 *
 * @module
 */

import type { Endpoint } from "../../../src/actors/kernel/port.ts";
import { serve } from "../../../src/actors/kernel/serve.ts";
import { contractActor } from "./contract_actor.ts";

if (self.name === "crash") {
  self.addEventListener("message", () => {
    throw new Error("the Worker crashed");
  });
} else {
  const capacity = self.name === "" ? undefined : Number(self.name);
  // In a Worker the global scope is the endpoint, which the types of a window do not know.
  serve(contractActor(capacity), self as unknown as Endpoint);
}
