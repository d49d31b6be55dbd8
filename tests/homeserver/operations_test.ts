import { Homeserver } from "@greenroom/matrix/testing";
import type { OperationsHost } from "../operations/operation.ts";
import { runOperation } from "../operations/scene.ts";
import { operations } from "../operations/suite.ts";

function host(homeserver: Homeserver): OperationsHost {
  return {
    baseUrl: homeserver.baseUrl,
    serverName: homeserver.serverName,
    fetch: homeserver.fetch,
    register: (name) => Promise.resolve(homeserver.createUser(`${name}-${crypto.randomUUID().slice(0, 8)}`)),
  };
}

for (const operation of operations) {
  Deno.test(`in process: ${operation.name}`, async () => {
    const errors: unknown[] = [];
    await using homeserver = new Homeserver({
      onError: (error) => errors.push(error),
      previewFetch: fetch,
      turnServer: { uris: ["turn:127.0.0.1?transport=udp"], username: "u", password: "p", ttl: 3600 },
    });
    await runOperation(operation, host(homeserver));
    if (errors.length > 0) throw new AggregateError(errors, "Cannot pass: the homeserver failed inside");
  });
}
