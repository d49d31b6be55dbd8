import { assertEquals } from "@std/assert";
import type { HomeserverOptions } from "@greenroom/matrix/testing";
import { stage } from "./harness.ts";

/** A homeserver, and a way to send bytes to it. */
function repository(options: HomeserverOptions = {}) {
  const scene = stage(["alice", "bob"], options);
  const request = (path: string, init: RequestInit = {}, { token = scene.users.alice.token } = {}) =>
    scene.homeserver.fetch(`${scene.homeserver.baseUrl}/_matrix/${path}`, {
      ...init,
      headers: { ...(token === "" ? {} : { authorization: `Bearer ${token}` }), ...init.headers },
    });
  const upload = async (body: BodyInit, type: string, query = ""): Promise<string> => {
    const response = await request(`media/v3/upload${query}`, {
      method: "POST",
      body,
      headers: { "content-type": type },
    });
    return (await response.json()).content_uri.slice("mxc://".length);
  };
  return { scene, request, upload };
}

Deno.test("media: comes back byte for byte, with its type and name", async () => {
  const { scene, request, upload } = repository();
  await using _ = scene;
  const bytes = crypto.getRandomValues(new Uint8Array(1000));
  const id = await upload(bytes, "image/png", "?filename=green%20room.png");
  const response = await request(`client/v1/media/download/${id}`);
  assertEquals(new Uint8Array(await response.arrayBuffer()), bytes);
  assertEquals(response.headers.get("content-type"), "image/png");
  assertEquals(response.headers.get("content-disposition"), "inline; filename*=utf-8''green%20room.png");
  const named = await request(`client/v1/media/download/${id}/other.png`);
  assertEquals(named.headers.get("content-disposition"), "inline; filename=other.png");
  await named.body?.cancel();
});

Deno.test("media: a web page is not shown, but saved", async () => {
  const { scene, request, upload } = repository();
  await using _ = scene;
  const response = await request(`client/v1/media/download/${await upload("<html>", "text/html")}`);
  assertEquals(response.headers.get("content-disposition"), "attachment");
  await response.body?.cancel();
});

Deno.test("media: streams and blobs can be uploaded", async () => {
  const { scene, request, upload } = repository();
  await using _ = scene;
  const id = await upload(new Blob(["a", "b"]), "text/plain");
  assertEquals(await (await request(`client/v1/media/download/${id}`)).text(), "ab");
  const body = new Blob(["streamed"]).stream();
  const response = await request("media/v3/upload", { method: "POST", body });
  const { content_uri } = await response.json();
  assertEquals(await (await request(`client/v1/media/download/${content_uri.slice(6)}`)).text(), "streamed");
});

Deno.test("media: takes a token, unless the homeserver is of older times", async () => {
  for (const authenticatedMedia of [true, false]) {
    const { scene, request, upload } = repository({ authenticatedMedia });
    await using _ = scene;
    const id = await upload("x", "text/plain");
    const statuses: number[] = [];
    for (const path of [`client/v1/media/download/${id}`, `media/v3/download/${id}`]) {
      const response = await request(path, {}, { token: "" });
      statuses.push(response.status);
      await response.body?.cancel();
    }
    assertEquals(statuses, authenticatedMedia ? [401, 404] : [401, 200]);
  }
});

Deno.test("media: what is too large is refused", async () => {
  const { scene, request } = repository({ maxUploadSize: 10 });
  await using _ = scene;
  const response = await request("media/v3/upload", { method: "POST", body: "12345678901" });
  assertEquals([response.status, (await response.json()).errcode], [413, "M_TOO_LARGE"]);
  assertEquals(await scene.users.alice.ok("GET", "/_matrix/client/v1/media/config"), { "m.upload.size": 10 });
});

Deno.test("media: a URI can be had before the file, by its creator and once", async () => {
  const { scene, request } = repository();
  await using _ = scene;
  const { alice, bob } = scene.users;
  const { content_uri, unused_expires_at } = await alice.ok("POST", "/_matrix/media/v1/create");
  assertEquals(unused_expires_at, scene.clock.now() + 86_400_000);
  const id = content_uri.slice("mxc://".length);
  assertEquals(await alice.refusal("GET", `/_matrix/client/v1/media/download/${id}`), [
    504,
    "M_NOT_YET_UPLOADED",
  ]);
  assertEquals(await bob.refusal("PUT", `/_matrix/media/v3/upload/${id}`, {}), [403, "M_FORBIDDEN"]);
  await alice.ok("PUT", `/_matrix/media/v3/upload/${id}`, { late: 1 });
  assertEquals(await alice.refusal("PUT", `/_matrix/media/v3/upload/${id}`, {}), [
    409,
    "M_CANNOT_OVERWRITE_MEDIA",
  ]);
  assertEquals(await (await request(`client/v1/media/download/${id}`)).json(), { late: 1 });
});

Deno.test("media: thumbnails need a size, and are the original of images", async () => {
  const { scene, request, upload } = repository();
  await using _ = scene;
  const { alice } = scene.users;
  const image = `/_matrix/client/v1/media/thumbnail/${await upload("pixels", "image/png")}`;
  const text = `/_matrix/client/v1/media/thumbnail/${await upload("text", "text/plain")}`;
  assertEquals(await alice.refusal("GET", image), [400, "M_MISSING_PARAM"]);
  assertEquals(await alice.refusal("GET", `${text}?width=1&height=1`), [400, "M_UNKNOWN"]);
  const response = await request(`${image.slice("/_matrix/".length)}?width=32&height=32&method=crop`);
  assertEquals([await response.text(), response.headers.get("content-type")], ["pixels", "image/png"]);
});

Deno.test("media: what is not there, is elsewhere, or is a preview", async () => {
  const { scene } = repository();
  await using _ = scene;
  const { alice } = scene.users;
  const get = (path: string) => alice.refusal("GET", `/_matrix/client/v1/media/${path}`);
  assertEquals(await get("download/localhost/none"), [404, "M_NOT_FOUND"]);
  assertEquals(await get("download/elsewhere/none"), [502, "M_UNKNOWN"]);
  assertEquals(await get("preview_url?url=https://example.org"), [404, "M_UNRECOGNIZED"]);
});
