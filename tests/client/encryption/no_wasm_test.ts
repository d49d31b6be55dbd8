import { assertRejects } from "@std/assert";
import { MissingPermissionError } from "@greenroom/matrix/errors";
import { EVERYBODY } from "../../support/everybody.ts";
import { clientStage } from "../support/stage.ts";

Deno.test("A page that may not compile WebAssembly ends the client, and the error says what to allow", async () => {
  await using stage = clientStage();
  const { compile } = WebAssembly;
  WebAssembly.compile = () => Promise.reject(new WebAssembly.CompileError("'unsafe-eval' is not allowed"));
  try {
    for (const sync of ["start", "syncOnce"] as const) {
      const bot = stage.client("bot", { encryption: EVERYBODY });
      await assertRejects(() => bot[sync](), MissingPermissionError, "'wasm-unsafe-eval'");
    }
  } finally {
    WebAssembly.compile = compile;
  }
});
