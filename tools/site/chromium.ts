/**
 * Where the browser is that looks at the site.
 *
 * @module
 */

/** What Debian and others call it. */
const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

/** The Chromium of this machine, if there is one. */
export async function findChromium(): Promise<string | undefined> {
  for (const program of PROGRAMS) {
    const found = await new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" })
      .output().then(({ success }) => success, () => false);
    if (found) return program;
  }
  return undefined;
}
