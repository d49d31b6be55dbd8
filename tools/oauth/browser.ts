/**
 * The browser of a person who approves or denies a login, in plain requests.
 *
 * @module
 */

const REDIRECTS = 20;

/** Goes where the server sends it and fills in its forms, with the cookies of one person. */
export class Browser {
  readonly #origin: string;
  readonly #user: string;
  readonly #cookies = new Map<string, string>();

  /**
   * Opens one.
   *
   * @param issuer The authorization server.
   * @param user Who is logging in; empty to deny.
   */
  constructor(issuer: string, user: string) {
    this.#origin = new URL(issuer).origin;
    this.#user = user;
  }

  /**
   * Opens a page, and does all that it asks for.
   *
   * @returns Where that ends: at a page of the client, or one that asks for nothing more.
   */
  async open(start: string): Promise<string> {
    let url = new URL(start);
    let form: Record<string, string> | undefined;
    for (let hops = 0; hops < REDIRECTS; hops++) {
      if (url.origin !== this.#origin) return url.href;
      const response = await fetch(url, {
        redirect: "manual",
        method: form === undefined ? "GET" : "POST",
        headers: { cookie: [...this.#cookies].map((cookie) => cookie.join("=")).join("; ") },
        body: form === undefined ? undefined : new URLSearchParams(form),
      });
      this.#keep(response.headers.getSetCookie());
      const text = await response.text();
      if (response.status >= 400) throw new Error(`Cannot log in: ${url} said ${response.status} ${text}`);
      const location = response.headers.get("location");
      form = location === null ? this.#fill(text) : undefined;
      if (location === null && form === undefined) return url.href;
      if (location !== null) url = new URL(location, url);
      else url = new URL(/<form[^>]* action="([^"]*)"/.exec(text)?.[1] ?? url, url);
    }
    throw new Error(`Cannot log in: ${start} redirects for ever`);
  }

  /** The fields of the form of a page, or undefined where there is none. */
  #fill(html: string): Record<string, string> | undefined {
    if (!/<form/.test(html)) return undefined;
    const inputs = [...html.matchAll(/<input([^>]*)>/g)].map(([, attributes = ""]) => attributes);
    return Object.fromEntries(inputs.map((attributes) => {
      const [name = "", value = ""] = ["name", "value"].map((key) =>
        new RegExp(`${key}="([^"]*)"`).exec(attributes)?.[1]
      );
      return [name, name === "user" ? this.#user : value];
    }));
  }

  #keep(cookies: readonly string[]): void {
    for (const cookie of cookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === "") this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}
