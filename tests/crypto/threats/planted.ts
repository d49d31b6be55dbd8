/** Secrets that were planted, and what of them shows in an output. */

/** How many characters of a secret in a row are a leak; all of it if it is shorter. */
const LENGTH = 12;
/** How many bytes in a row are one, in base64 and as numbers. */
const BYTES = 12;
const NUMBERS = 8;

/** What bytes look like that cannot be there by chance: many are zero in every record. */
const isRandom = (bytes: Uint8Array): boolean => new Set(bytes).size > bytes.length / 2;

/** A way in which a secret may show: what to look for, in which form of an output. */
interface Form {
  readonly how: string;
  /** All parts of a secret, each of which is a leak. */
  readonly parts: (secret: Uint8Array, text: string | undefined) => Iterable<string>;
  /** All parts of an output that are as long. */
  readonly output: (text: string, isLeak: (part: string) => boolean) => void;
}

function* windows(text: string, length: number): Generator<string> {
  for (let place = 0; place + length <= text.length; place++) yield text.slice(place, place + length);
}

function* byteWindows(bytes: Uint8Array, length: number): Generator<Uint8Array> {
  for (let place = 0; place + length <= bytes.length; place++) {
    const part = bytes.subarray(place, place + length);
    if (isRandom(part)) yield part;
  }
}

function scan(text: string, length: number, isLeak: (part: string) => boolean): void {
  for (let place = 0; place + length <= text.length; place++) isLeak(text.slice(place, place + length));
}

/** A secret's text in another spelling. */
function spelled(how: string, spell: (text: string) => string, length = LENGTH): Form {
  return {
    how,
    *parts(_, text) {
      if (text !== undefined) yield* windows(spell(text), length);
    },
    output: (text, isLeak) => scan(text, length, isLeak),
  };
}

const reversed = (text: string): string => [...text].reverse().join("");
const percent = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

const FORMS: readonly Form[] = [
  spelled("as it is", (text) => text),
  spelled("reversed", reversed),
  spelled("in JSON", (text) => JSON.stringify(text).slice(1, -1)),
  spelled("in JSON in JSON", (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3)),
  spelled("in a URL", encodeURIComponent, 18),
  {
    ...spelled("percent-encoded", percent, 24),
    output: (text, isLeak) => scan(text.toLowerCase(), 24, isLeak),
  },
  {
    ...spelled("without capitals", (text) => text.toLowerCase()),
    output: (text, isLeak) => scan(text.toLowerCase(), LENGTH, isLeak),
  },
  {
    how: "in base64",
    *parts(bytes) {
      for (const part of byteWindows(bytes, BYTES)) yield part.toBase64();
    },
    output: (text, isLeak) => scan(text.replaceAll("-", "+").replaceAll("_", "/"), BYTES / 3 * 4, isLeak),
  },
  {
    how: "in hexadecimal numbers",
    *parts(bytes) {
      for (const part of byteWindows(bytes, NUMBERS)) yield part.toHex();
    },
    output: (text, isLeak) => scan(text.toLowerCase(), 2 * NUMBERS, isLeak),
  },
  {
    how: "in decimal numbers",
    *parts(bytes) {
      for (const part of byteWindows(bytes, NUMBERS)) yield part.join(",");
    },
    output(text, isLeak) {
      const numbers = text.replaceAll(/"\d+":|\s/g, "").split(/[^\d]+/);
      for (let place = 0; place + NUMBERS <= numbers.length; place++) {
        isLeak(numbers.slice(place, place + NUMBERS).join(","));
      }
    },
  },
];

/** Secrets that were planted, by name. */
export class Planted {
  readonly #parts: ReadonlyMap<Form, Map<string, string>> = new Map(FORMS.map((form) => [form, new Map()]));
  readonly #short = new Map<string, string>();
  readonly #names: string[] = [];

  /** The names of all that was planted. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Plants a secret that there is already. */
  add(name: string, secret: string | Uint8Array): void {
    this.#names.push(name);
    const text = typeof secret === "string" ? secret : undefined;
    const bytes = typeof secret === "string" ? new TextEncoder().encode(secret) : secret;
    if (text !== undefined && text.length < LENGTH) this.#short.set(text, name);
    for (const [form, parts] of this.#parts) {
      for (const part of form.parts(bytes, text)) parts.set(part, name);
    }
  }

  /** Plants a text that is found in whatever way it shows, of characters that are escaped in many places. */
  text(name: string): string {
    const random = crypto.getRandomValues(new Uint8Array(24)).toBase64({ alphabet: "base64url" });
    const text = `${random.slice(0, 16)}"\\é ${random.slice(16)}`;
    this.add(name, text);
    return text;
  }

  /** Plants a token: of characters that a header can carry. */
  token(name: string): string {
    const token = `syt_${crypto.getRandomValues(new Uint8Array(24)).toBase64()}~|`;
    this.add(name, token);
    return token;
  }

  /** Takes back what everybody may know, and is a part of secrets as well. */
  allow(open: string | Uint8Array): void {
    const text = typeof open === "string" ? open : undefined;
    const bytes = typeof open === "string" ? new TextEncoder().encode(open) : open;
    for (const [form, parts] of this.#parts) {
      for (const part of form.parts(bytes, text)) parts.delete(part);
    }
  }

  /** Which secrets show in an output, and how. */
  leaksIn(output: string): string[] {
    const found = new Set<string>();
    for (const [form, parts] of this.#parts) {
      form.output(output, (part) => {
        const name = parts.get(part);
        if (name !== undefined) found.add(`${name}, ${form.how}`);
        return name !== undefined;
      });
    }
    for (const [text, name] of this.#short) if (output.includes(text)) found.add(`${name}, as it is`);
    return [...found];
  }
}

/**
 * Everything that can be seen of something: printed, as text, as JSON,
 * with all that led to it and hangs on it.
 */
export function seen(value: unknown): string {
  const texts = [
    Deno.inspect(value, {
      depth: 12,
      iterableLimit: 100_000,
      strAbbreviateSize: 1e7,
      getters: false,
      showHidden: true,
    }),
    asJson(value),
  ];
  for (let error = value, depth = 0; error instanceof Error && depth < 10; error = error.cause, depth++) {
    const own = Object.getOwnPropertyNames(error).map((name) =>
      `${name}: ${asJson(Reflect.get(error as object, name))}`
    );
    texts.push(String(error), error.message, error.stack ?? "", ...own, asJson(error));
    if (error instanceof AggregateError) texts.push(...error.errors.map(seen));
  }
  return texts.join("\n");
}

function asJson(value: unknown): string {
  const above = new WeakSet<object>();
  try {
    return JSON.stringify(value, (_, member) => {
      if (typeof member === "bigint") return String(member);
      if (typeof member !== "object" || member === null) return member;
      if (above.has(member)) return "again";
      above.add(member);
      return member instanceof Map || member instanceof Set ? [...member] : member;
    }) ?? "";
  } catch {
    return ""; // what can't be written as JSON shows nothing
  }
}
