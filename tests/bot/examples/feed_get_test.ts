import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { checkUrl, get, GetError } from "../../../examples/bots/feed/get.ts";
import { messageOf, readFeed } from "../../../examples/bots/feed/read_feed.ts";

const MEGABYTE = new Uint8Array(1_000_000).fill(32);

/** A server on this machine. */
function serving(answer: (request: Request) => Response | Promise<Response>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  const host = `127.0.0.1:${server.addr.port}`;
  return { host, url: `http://${host}/`, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** A body of 50 megabytes that is made as it is read, and how much of it was. */
function endless(): { body: ReadableStream<Uint8Array>; read: () => number } {
  let count = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (++count > 50) controller.close();
      else controller.enqueue(MEGABYTE);
    },
  });
  return { body, read: () => count };
}

Deno.test("Only http is asked, and no address of the bot's own machine and network, however it is written", async () => {
  const addresses = [
    ...["http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0/"],
    ...["http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[fe80::1]/", "http://[fd00::1]/"],
    ...["http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1/", "http://169.254.169.254/"],
    ...["http://100.64.0.1/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/"],
  ];
  for (const address of addresses) await assertRejects(() => get(address), GetError, "own machine", address);
  await using server = serving(() => new Response("secret"));
  const byName = `http://localhost:${new URL(server.url).port}/`;
  await assertRejects(() => get(byName), GetError, "own machine");
  assertEquals((await get(byName, { allow: [new URL(byName).host] }))?.text, "secret");
  for (const address of ["file:///etc/passwd", "ftp://a.b/", "feed", "", "http://user:password@a.b/"]) {
    await assertRejects(() => get(address), GetError, "must begin with", address);
  }
  assertEquals(checkUrl("https://news.example.org").href, "https://news.example.org/");
});

Deno.test("A redirect is followed, but not to the own machine, and not for ever", async () => {
  await using secret = serving(() => new Response("secret"));
  await using server = serving(({ url }) => {
    const targets: Record<string, string> = {
      "/in": secret.url,
      "/name": secret.url.replace("127.0.0.1", "localhost"),
      "/file": "file:///etc/passwd",
      "/loop": "/loop",
      "/moved": "/there",
    };
    const location = targets[new URL(url).pathname];
    return location === undefined
      ? new Response("there")
      : new Response(null, { status: 302, headers: { location } });
  });
  const options = { allow: [server.host] };
  const rejects = (path: string, message: string) =>
    assertRejects(() => get(`${server.url}${path}`, options), GetError, message);
  await rejects("in", "own machine");
  await rejects("name", "own machine");
  await rejects("file", "must begin with");
  await rejects("loop", "redirects too often");
  const { text, url } = await get(`${server.url}moved`, options) ?? {};
  assertEquals([text, url], ["there", `${server.url}there`]);
});

Deno.test("No more than two megabytes are loaded, whatever length was said, and nothing that was compressed", async () => {
  const bodies = [endless(), endless()];
  await using server = serving(({ url }) => {
    const { pathname } = new URL(url);
    const headers = { "content-length": String(50 * MEGABYTE.length) };
    if (pathname === "/said") return new Response(bodies[0]?.body, { headers });
    if (pathname === "/unsaid") return new Response(bodies[1]?.body);
    return new Response("x", { headers: { "content-encoding": "gzip" } });
  });
  const options = { allow: [server.host] };
  for (const path of ["said", "unsaid"]) {
    await assertRejects(() => get(`${server.url}${path}`, options), GetError, "larger than 2 MB");
  }
  await assertRejects(() => get(`${server.url}packed`, options), GetError, "compresses");
  for (const { read } of bodies) assert(read() < 40);
});

Deno.test("A server that is away, does not answer, or answers that it fails, is an error, and so is the end of the bot", async () => {
  const held = Promise.withResolvers<Response>();
  await using server = serving(({ url }) =>
    new URL(url).pathname === "/held" ? held.promise : new Response("no", { status: 500 })
  );
  const options = { allow: [server.host] };
  await assertRejects(() => get(server.url, options), GetError, "the server answers 500");
  await assertRejects(() => get(`${server.url}held`, { ...options, timeout: 30 }), GetError, "too long");
  const ending = new AbortController();
  const loading = get(`${server.url}held`, { ...options, signal: ending.signal });
  ending.abort(new TypeError("The bot has ended"));
  await assertRejects(() => loading, TypeError, "The bot has ended");
  held.resolve(new Response());
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const host = `127.0.0.1:${listener.addr.port}`;
  listener.close();
  await assertRejects(() => get(`http://${host}/`, { allow: [host] }), GetError, "can't be reached");
});

Deno.test("What the server said of a feed is said to it again, and what has not changed is not loaded", async () => {
  await using server = serving(({ headers }) => {
    const isSame = headers.get("if-none-match") === '"1"' && headers.get("if-modified-since") === "yesterday";
    if (isSame) return new Response(null, { status: 304 });
    const type = "text/xml; charset=iso-8859-1";
    return new Response(new Uint8Array([0x63, 0x61, 0x66, 0xe9]), {
      headers: { "etag": '"1"', "last-modified": "yesterday", "content-type": type },
    });
  });
  const options = { allow: [server.host] };
  const { text, etag, lastModified } = await get(server.url, options) ?? {};
  assertEquals(text, "café");
  assertEquals(await get(server.url, { ...options, etag, lastModified }), undefined);
});

Deno.test("RSS and Atom are read; what is neither, is cut off or nested too deep is an error, and entities do not unfold", async () => {
  const base = "https://blog.example.org/feed";
  const atom = await readFeed(
    `<feed xmlns="http://www.w3.org/2005/Atom"><title>Blog</title>
    <entry><id>1</id><title type="html">A &amp;amp; &lt;b&gt;B&lt;/b&gt;</title><link rel="replies" href="/r"/>
    <link rel="alternate" href="/1"/><updated>2024-01-02T00:00:00Z</updated><summary>One</summary></entry></feed>`,
    base,
  );
  const [entry] = atom.items;
  assertEquals([atom.title, entry?.title, entry?.link, entry?.html], [
    "Blog",
    "A & B",
    "https://blog.example.org/1",
    "One",
  ]);
  const bad = [
    ...["", "nothing", "<html><body>Hi</body></html>", "<rss><channel><item><![CDATA["],
    ...[`<rss><channel>${"<a>".repeat(100_000)}`, `<rss><channel>${"<".repeat(100_000)}`, "\0".repeat(1_000)],
  ];
  for (const text of bad) await assertRejects(() => readFeed(text, base), GetError, "neither RSS nor Atom");
  const entities = Array.from(
    { length: 9 },
    (_, at) => `<!ENTITY ${"bcdefghij"[at]} "${`&${"abcdefghi"[at]};`.repeat(10)}">`,
  );
  const bomb = `<!DOCTYPE x [<!ENTITY a "${"x".repeat(1_000)}">${entities.join("")}]>
    <rss version="2.0"><channel><title>T</title><item><title>&j;</title></item></channel></rss>`;
  const { items } = await readFeed(bomb, base).catch(() => ({ items: [] }));
  assert(items.every(({ title }) => title.length < 300));
  const many = `<rss version="2.0"><channel>${"<item><guid>1</guid></item>".repeat(1_000)}</channel></rss>`;
  assertEquals((await readFeed(many, base)).items.length, 100);
});

Deno.test("What is said of an item is clean, short, and notifies nobody", async () => {
  const html = '<script>x()</script><img src="https://track.example.org/"><a href="javascript:x()">go</a>' +
    '<a href="https://matrix.to/#/@alice:example.org">Alice</a><p onclick="x()">Hi</p></blockquote></strong>';
  const item = { id: "1", title: "<script>alert(1)</script>", link: 'https://a.b/?a=1&b="', html };
  const { formatted_body = "", "m.mentions": mentions } = await messageOf("<i>Feed</i>", item);
  assertEquals(mentions, {});
  assert(!/<script|<i>|javascript:|track|onclick/.test(formatted_body));
  assertMatch(formatted_body, /^<strong>&lt;i&gt;Feed&lt;\/i&gt;<\/strong>: <a href="https:\/\/a\.b\//);
  const long = await messageOf("Feed", { ...item, html: `<p>${"word ".repeat(10_000)}</p>` });
  assert(JSON.stringify(long).length < 3_000);
});
