import { once } from "node:events"
import { createServer } from "node:tls"

/**
 * Self-signed certificates for test servers on loopback addresses. Unless a comment says otherwise,
 * they are valid until 2119.
 */
const key = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIMi0B1HFUptHO5LMeH3LCCqqDsIaVP7Gi1gTqkwvHzoWoAoGCCqGSM49
AwEHoUQDQgAEp+Z1QDEOAa6PF9pugGCXPeRtmCqEsK9x5gJz9c4j+zfQmo2Ua6sY
trZxkVCd3KaiCzNiE82qZbA3lvSd5qy6YQ==
-----END EC PRIVATE KEY-----`

const plain = `-----BEGIN CERTIFICATE-----
MIIBvjCCAWSgAwIBAgIEBEkoYzAKBggqhkjOPQQDAjA8MQswCQYDVQQGEwJERTES
MBAGA1UECgwJQWNtZSBHbWJIMRkwFwYDVQQDDBB3d3cuYWNtZS5leGFtcGxlMCAX
DTI2MTEyMjExMzQ1OFoYDzIxMTkxMjI1MTEzNDU4WjA8MQswCQYDVQQGEwJERTES
MBAGA1UECgwJQWNtZSBHbWJIMRkwFwYDVQQDDBB3d3cuYWNtZS5leGFtcGxlMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEp+Z1QDEOAa6PF9pugGCXPeRtmCqEsK9x
5gJz9c4j+zfQmo2Ua6sYtrZxkVCd3KaiCzNiE82qZbA3lvSd5qy6YaNSMFAwLwYD
VR0RBCgwJocEfwAAAYIQd3d3LmFjbWUuZXhhbXBsZYIMYWNtZS5leGFtcGxlMB0G
A1UdDgQWBBRSUbJFXBGoCiD3Kc/7hiQcU6mO7TAKBggqhkjOPQQDAgNIADBFAiBe
fOvU4lSZqD5mhOzwLntNztozEYojrKty7XdYyQFNuwIhAPlQAkW/Bn1aVkHCABvm
fDI8gSo4Zf7/3jfUdWhxvs60
-----END CERTIFICATE-----`

/** A certificate that expired on 3 May 2026. */
const expired = `-----BEGIN CERTIFICATE-----
MIIBuDCCAV+gAwIBAgIBBTAKBggqhkjOPQQDAjA8MQswCQYDVQQGEwJERTESMBAG
A1UECgwJQWNtZSBHbWJIMRkwFwYDVQQDDBB3d3cuYWNtZS5leGFtcGxlMB4XDTI1
MDUwMzAwMDAwMFoXDTI2MDUwMzEyMDAwMFowPDELMAkGA1UEBhMCREUxEjAQBgNV
BAoMCUFjbWUgR21iSDEZMBcGA1UEAwwQd3d3LmFjbWUuZXhhbXBsZTBZMBMGByqG
SM49AgEGCCqGSM49AwEHA0IABKfmdUAxDgGujxfaboBglz3kbZgqhLCvceYCc/XO
I/s30JqNlGurGLa2cZFQndymogszYhPNqmWwN5b0neasumGjUjBQMC8GA1UdEQQo
MCaCEHd3dy5hY21lLmV4YW1wbGWCDGFjbWUuZXhhbXBsZYcEfwAAATAdBgNVHQ4E
FgQUUlGyRVwRqAog9ynP+4YkHFOpju0wCgYIKoZIzj0EAwIDRwAwRAIgAaGArt96
0lSyC+8Ad3QLLZScX/OYWADJDpu0XXD7X+MCIFuixNFsWZsHqxWO+k1LfH4xjmWX
uujRnqioTT6B6RW/
-----END CERTIFICATE-----`

/** A certificate whose fields contain HTML with a script. */
const hostile = `-----BEGIN CERTIFICATE-----
MIICaDCCAg2gAwIBAgIBATAKBggqhkjOPQQDAjB9MSswKQYDVQQKDCI8aW1nIHNy
Yz14IG9uZXJyb3I9d2luZG93Ll9fcmFuPTE+MSQwIgYDVQQLDBs8c3ZnIG9ubG9h
ZD13aW5kb3cuX19yYW49MT4xKDAmBgNVBAMMHzxzY3JpcHQ+d2luZG93Ll9fcmFu
PTE8L3NjcmlwdD4wIBcNMjYxMTIyMTEzNDU4WhgPMjExOTEyMjUxMTM0NThaMH0x
KzApBgNVBAoMIjxpbWcgc3JjPXggb25lcnJvcj13aW5kb3cuX19yYW49MT4xJDAi
BgNVBAsMGzxzdmcgb25sb2FkPXdpbmRvdy5fX3Jhbj0xPjEoMCYGA1UEAwwfPHNj
cmlwdD53aW5kb3cuX19yYW49MTwvc2NyaXB0PjBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABKfmdUAxDgGujxfaboBglz3kbZgqhLCvceYCc/XOI/s30JqNlGurGLa2
cZFQndymogszYhPNqmWwN5b0neasumGjfDB6MFkGA1UdEQRSMFCHBH8AAAGCEHd3
dy5hY21lLmV4YW1wbGWCGzxzdmcvb25sb2FkPXdpbmRvdy5fX3Jhbj0xPoYZamF2
YXNjcmlwdDp3aW5kb3cuX19yYW49MTAdBgNVHQ4EFgQUUlGyRVwRqAog9ynP+4Yk
HFOpju0wCgYIKoZIzj0EAwIDSQAwRgIhALdF5IV9o7Oc9HCIO8JnxCEA/LBOKqDP
aSEPOgTqGZwAAiEA9gLwFE3D7owt4n1KRCN6+T/fMNwIOokI5bXBr84RwVA=
-----END CERTIFICATE-----`

export const certificates = { plain, expired, hostile } as const

/**
 * Starts a TLS server with one of the certificates and returns its port. The server stops with the
 * process.
 */
export const serveCertificate = async (name: keyof typeof certificates): Promise<number> => {
  const server = createServer({ key, cert: certificates[name] }, (socket) => socket.end())
  server.on("tlsClientError", () => {})
  server.listen(0, "127.0.0.1").unref()
  await once(server, "listening")
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}
