/**
 * The certificate of homeservers that tests make up, which nobody checks: Synapse talks TLS to others, and
 * nothing else. It was made with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes`,
 * and its key protects nothing.
 *
 * @module
 */

/** The certificate and its key. */
export const CERTIFICATE = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBfjCCASWgAwIBAgIUAYhpQHNHbLy+ujdx49YgeqK/C8owCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyODExMzMyMloYDzIxMjYxMTA0
MTEzMzIyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQq5xujgqXaYBqC0z7D+sZjqklR1oespmVthhtblkZzbOY4pWuFA1g3
KNI9kKKywuQ+pTtQ4I8bazkzBDmg6Zkio1MwUTAdBgNVHQ4EFgQUyaBHyOdXwpnq
HEcvzl3GI0Z5G/UwHwYDVR0jBBgwFoAUyaBHyOdXwpnqHEcvzl3GI0Z5G/UwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiBamPJEwmhEkUFkJq2njGh9
S86fIPPMGmji50xst/GXsAIgWcHOXPgZGQ261qhVKkqcpQRIqiRaZgU5JC76qXZA
h+w=
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/SyGMb/stnud+Gdg
XVF5eBMh9V8RKVlzokg6c3RPiN6hRANCAAQq5xujgqXaYBqC0z7D+sZjqklR1oes
pmVthhtblkZzbOY4pWuFA1g3KNI9kKKywuQ+pTtQ4I8bazkzBDmg6Zki
-----END PRIVATE KEY-----
`,
} as const;
