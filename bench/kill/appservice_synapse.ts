/**
 * A Synapse that sends its transactions to a bot.
 *
 * @module
 */

import { createRegistration, registrationToYaml } from "@greenroom/matrix/appservice";
import { Synapse } from "../../tools/synapse.ts";
import type { Way } from "./setup.ts";

/**
 * Starts it.
 *
 * @param port The loopback port of the bot.
 */
export async function appserviceSynapse(
  port: number,
): Promise<AsyncDisposable & { readonly synapse: Synapse; readonly way: Way }> {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-kill-registration-" });
  const url = `http://127.0.0.1:${port}`;
  const registration = createRegistration({ id: "bot", url, serverName: "localhost", encryption: true });
  const file = `${folder}/registration.yaml`;
  await Deno.writeTextFile(file, registrationToYaml(registration));
  const synapse = await Synapse.start({
    appservices: [file],
  });
  return {
    synapse,
    way: { port, registration },
    async [Symbol.asyncDispose]() {
      await synapse.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
