import { portRef } from "../../../src/actors/kernel/port_ref.ts";
import { serve } from "../../../src/actors/kernel/serve.ts";
import { testActorContract } from "./actor_contract.ts";
import { contractActor, type ContractProtocol } from "./contract_actor.ts";

testActorContract("in this thread", (capacity) => ({
  actor: contractActor(capacity),
  [Symbol.dispose]() {},
}));

testActorContract("behind a port", (capacity) => {
  const { port1, port2 } = new MessageChannel();
  serve(contractActor(capacity), port1);
  return {
    actor: portRef<ContractProtocol>(port2, { name: "contract", credits: capacity }),
    [Symbol.dispose]() {
      port1.close();
      port2.close();
    },
  };
});

testActorContract("in a Worker", (capacity) => {
  const url = new URL("./worker.ts", import.meta.url);
  const worker = new Worker(url, { type: "module", name: capacity?.toString() });
  return {
    actor: portRef<ContractProtocol>(worker, { name: "contract", credits: capacity }),
    [Symbol.dispose]() {
      worker.terminate();
    },
  };
});
