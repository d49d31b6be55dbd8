import { InProcessHost } from "../operations/support/in_process.ts";
import { runOperation } from "../operations/support/scene.ts";
import { operations } from "../operations/suite.ts";

for (const operation of operations) {
  Deno.test(`in process: ${operation.name}`, async () => {
    await using host = new InProcessHost();
    await runOperation(operation, host);
  });
}
