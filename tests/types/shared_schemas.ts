/**
 * The specification's event schemas and examples, from beside the repository; without them, tests
 * that need them skip.
 */

const OPENAPI = new URL("../../../shared/openapi/", import.meta.url);

/** Whether the data is there; on the build server it must be. */
export function sharedSchemasPresent(): boolean {
  try {
    Deno.statSync(OPENAPI);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || Deno.env.get("CI") === "true") throw error;
    console.log("skipped: the Matrix schemas are not beside the repository (../shared/openapi)");
    return false;
  }
}

/** A test that needs the data: without it, it is skipped. */
export function specificationTest(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, ignore: !sharedSchemasPresent(), fn });
}

/** One of the data files, parsed. */
export function readSharedJson<Shape>(name: string): Shape {
  return JSON.parse(Deno.readTextFileSync(new URL(name, OPENAPI)));
}
