/** What a key of the secret storage vouches for, whatever it is. */

/** The MAC that the owner of a key would make of bytes. */
export async function macOf(
  key: Uint8Array<ArrayBuffer>,
  name: string,
  data: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const extractable = false;
  const material = await crypto.subtle.importKey("raw", key, "HKDF", extractable, ["deriveBits"]);
  const info = new TextEncoder().encode(name);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(32), info };
  const bits = await crypto.subtle.deriveBits(hkdf, material, 512);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const authenticator = await crypto.subtle.importKey("raw", bits.slice(32), hmac, extractable, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", authenticator, data));
}
