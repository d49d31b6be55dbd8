/**
 * A headless Chromium, driven by the DevTools protocol: pages that are opened, resized, coloured and
 * asked.
 *
 * @module
 */

interface Answer {
  id?: number;
  method?: string;
  sessionId?: string;
  // deno-lint-ignore no-explicit-any -- what the protocol answers is as varied as its methods
  result?: any;
  // deno-lint-ignore no-explicit-any -- and so is what it reports
  params?: any;
  error?: { message: string };
}

/** Calls a method of the protocol. */
type Call = (method: string, params?: object) => Promise<Answer["result"]>;

/** After how long something is taken to hang, in milliseconds: far longer than a busy machine needs. */
const LIMIT = 180_000;

/** Waits for something, and fails if it hangs. */
async function within<T>(limit: number, promise: Promise<T>, what: string): Promise<T> {
  const hung = Promise.withResolvers<never>();
  const timer = setTimeout(() => hung.reject(new Error(`Chromium hangs: it has not given ${what}`)), limit);
  try {
    return await Promise.race([promise, hung.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A running Chromium. Dispose it, and it ends. */
export class Browser implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #ended: () => Promise<void>;
  readonly #calls = new Map<number, PromiseWithResolvers<Answer["result"]>>();
  readonly #listeners = new Map<string, (answer: Answer) => void>();
  #lastCall = 0;

  private constructor(socket: WebSocket, ended: () => Promise<void>) {
    this.#socket = socket;
    this.#ended = ended;
    socket.addEventListener("close", () => {
      for (const call of this.#calls.values()) call.reject(new Error("Chromium has ended"));
    });
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
  }

  /** Starts one, with a profile of its own that is deleted at the end. */
  static async start(program: string): Promise<Browser> {
    const profile = await Deno.makeTempDir();
    const child = new Deno.Command(program, {
      args: [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--remote-debugging-port=0",
        `--user-data-dir=${profile}`,
        "about:blank",
      ],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const address = Promise.withResolvers<string>();
    const reading = (async () => {
      let printed = "";
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
        printed = (printed + text).slice(-10_000);
        const found = /DevTools listening on (ws:\S+)/.exec(printed)?.[1];
        if (found !== undefined) address.resolve(found);
      }
      address.reject(new Error(`Cannot start ${program}: it ended:\n${printed}`));
    })();
    const socket = new WebSocket(await within(LIMIT, address.promise, "its address"));
    await within(LIMIT, new Promise((resolve) => socket.onopen = resolve), "a connection");
    return new Browser(socket, async () => {
      await Promise.all([reading, child.status]);
      await Deno.remove(profile, { recursive: true });
    });
  }

  /** Calls a method of the protocol. */
  call(method: string, params: object = {}, sessionId?: string): Promise<Answer["result"]> {
    const id = ++this.#lastCall;
    const answer = Promise.withResolvers<Answer["result"]>();
    this.#calls.set(id, answer);
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    return within(2 * LIMIT, answer.promise, `an answer to ${method} ${JSON.stringify(params)}`);
  }

  /** Opens an empty page. */
  async newPage(): Promise<Page> {
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.call("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page((method, params) => this.call(method, params, sessionId));
    this.#listeners.set(sessionId, ({ method = "", params }) => page.receive(method, params));
    for (const domain of ["Page", "Runtime", "Log"]) await this.call(`${domain}.enable`, {}, sessionId);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.onclose = resolve);
    await this.call("Browser.close");
    await closed;
    await this.#ended();
  }

  #receive(answer: Answer): void {
    if (answer.id === undefined) {
      this.#listeners.get(answer.sessionId ?? "")?.(answer);
      return;
    }
    const call = this.#calls.get(answer.id);
    this.#calls.delete(answer.id);
    if (answer.error) call?.reject(new Error(answer.error.message));
    else call?.resolve(answer.result);
  }
}

/** A page in the browser. */
export class Page {
  /** What went wrong on it: errors on its console, exceptions, and requests that failed. */
  readonly errors: string[] = [];
  readonly #call: Call;
  #loaded = Promise.withResolvers<void>();

  constructor(call: Call) {
    this.#call = call;
  }

  /** Takes note of what the browser reports. */
  receive(method: string, params: Answer["params"]): void {
    if (method === "Page.loadEventFired") this.#loaded.resolve();
    else if (method === "Runtime.exceptionThrown") {
      const { text, exception } = params.exceptionDetails;
      this.errors.push(`${text} ${exception?.description ?? ""}`);
    } else if (method === "Log.entryAdded" && params.entry.level === "error") {
      this.errors.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    } else if (method === "Runtime.consoleAPICalled" && ["error", "assert"].includes(params.type)) {
      const said = params.args.map((arg: Answer["params"]) => arg.value ?? arg.description);
      this.errors.push(said.join(" "));
    }
  }

  /** Opens an address, and waits until all of it is there. */
  async open(url: string): Promise<void> {
    this.#loaded = Promise.withResolvers();
    await this.#call("Page.navigate", { url });
    await within(LIMIT, this.#loaded.promise, `all of ${url}`);
  }

  /** Gives the page a width, and the system a colour scheme. */
  async look(look: { width: number; scheme: "light" | "dark" }): Promise<void> {
    const metrics = { width: look.width, height: 900, deviceScaleFactor: 1, mobile: look.width < 600 };
    await this.#call("Emulation.setDeviceMetricsOverride", metrics);
    const features = [
      { name: "prefers-color-scheme", value: look.scheme },
      { name: "prefers-reduced-motion", value: "reduce" },
    ];
    await this.#call("Emulation.setEmulatedMedia", { features });
  }

  /** Evaluates an expression on the page, waits for its promise, and returns what it came to. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.#call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /**
   * Waits until a condition holds, looking again with each change of the page, and ten times a second. What
   * does not come about within minutes is an error that shows the page.
   */
  async until(condition: string): Promise<void> {
    const came = await this.evaluate<boolean>(`new Promise((resolve) => {
      const end = (came) => { watcher.disconnect(); clearTimeout(timer); clearInterval(looks); resolve(came); };
      const look = () => { if (${condition}) end(true); };
      const watcher = new MutationObserver(look);
      const timer = setTimeout(() => end(false), ${LIMIT});
      const looks = setInterval(look, 100);
      watcher.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
      look();
    })`);
    if (came) return;
    const shown = await this.evaluate<string>("document.body.innerText.slice(-2000)");
    throw new Error(
      [`It did not come about: ${condition}. Errors:`, ...this.errors, "The page:", shown].join("\n"),
    );
  }

  /** Types a text where the cursor stands. */
  async type(text: string): Promise<void> {
    await this.#call("Input.insertText", { text });
  }

  /** A picture of what is visible, as PNG. */
  async screenshot(): Promise<Uint8Array> {
    const { data } = await this.#call("Page.captureScreenshot", { format: "png" });
    return Uint8Array.fromBase64(data);
  }
}
