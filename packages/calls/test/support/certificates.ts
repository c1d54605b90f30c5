import { sign } from "node:crypto"

/**
 * A root certificate for tests on loopback. It is also the certificate of `service.test`, and is
 * valid until 2120.
 */
export const key = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIBOlUU0XGH3qj1WVkIdt7OuUoCj2NWvk0T7MJ7UQTmZ2oAoGCCqGSM49
AwEHoUQDQgAEMc6S0r2056tQY5s6fJOFjdnhGiaNmyKoQvKQPz6MwChZFndVnnz8
rnh4hZi6xSHdY2X3O0OX+RqkYO4ggj0fVg==
-----END EC PRIVATE KEY-----`

export const root = `-----BEGIN CERTIFICATE-----
MIIBZTCCAQqgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAl0ZXN0IHJv
b3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CXRlc3Qgcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDHOktK9tOerUGOb
OnyThY3Z4RomjZsiqELykD8+jMAoWRZ3VZ58/K54eIWYusUh3WNl9ztDl/kapGDu
III9H1ajSzBJMA8GA1UdEwEB/wQFMAMBAf8wFwYDVR0RBBAwDoIMc2VydmljZS50
ZXN0MB0GA1UdDgQWBBQUqCWFv4ddnNs5iwwDpZ6O5szfnDAKBggqhkjOPQQDAgNJ
ADBGAiEAnyrtx3rQkAJG4Ljfa9q+15Hu1Oqn8iR/w/aTLGdCTXMCIQCSr0MMST2u
Gy6kaorVDlceTxdWSbS+XunvzkA2TcdQUw==
-----END CERTIFICATE-----`

/** Signed by the root for `expired.test`. It expired in February 2020. */
export const expired = `-----BEGIN CERTIFICATE-----
MIIBVDCB+qADAgECAgECMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCXRlc3Qgcm9v
dDAeFw0yMDAxMDEwMDAwMDBaFw0yMDAyMDEwMDAwMDBaMBcxFTATBgNVBAMMDGV4
cGlyZWQudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDHOktK9tOerUGOb
OnyThY3Z4RomjZsiqELykD8+jMAoWRZ3VZ58/K54eIWYusUh3WNl9ztDl/kapGDu
III9H1ajOjA4MBcGA1UdEQQQMA6CDGV4cGlyZWQudGVzdDAdBgNVHQ4EFgQUFKgl
hb+HXZzbOYsMA6WejubM35wwCgYIKoZIzj0EAwIDSQAwRgIhAOCvJC0t6wGC4pA/
G/+Zmd0gvXyWjLiBj+1FPx6Xkrn2AiEApMyRE4xIvMw1h+UKAucMPTQbpGGMGXDo
IsnqU7GpU+c=
-----END CERTIFICATE-----`

/** Signed by the root for `site.test`, `www.site.test` and 127.0.0.1, until 2120. */
export const site = `-----BEGIN CERTIFICATE-----
MIIBZDCCAQugAwIBAgIBEDAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAl0ZXN0IHJv
b3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CXNpdGUudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDHOktK9tOerUGOb
OnyThY3Z4RomjZsiqELykD8+jMAoWRZ3VZ58/K54eIWYusUh3WNl9ztDl/kapGDu
III9H1ajTDBKMCkGA1UdEQQiMCCCCXNpdGUudGVzdIINd3d3LnNpdGUudGVzdIcE
fwAAATAdBgNVHQ4EFgQUFKglhb+HXZzbOYsMA6WejubM35wwCgYIKoZIzj0EAwID
RwAwRAIgGfW2sccrjTNXVYvoG1fNmATrooCAe+H/+CzWlFg1Z00CIEa7k9EmqWjZ
xN4KtEfiFm9vj+bD4JZyE8a9woc+tPp7
-----END CERTIFICATE-----`

/** Signed by the root for `future.test`. It becomes valid in 2119. */
export const future = `-----BEGIN CERTIFICATE-----
MIIBVjCB/KADAgECAgERMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCXRlc3Qgcm9v
dDAiGA8yMTE5MDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAWMRQwEgYDVQQD
DAtmdXR1cmUudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDHOktK9tOer
UGObOnyThY3Z4RomjZsiqELykD8+jMAoWRZ3VZ58/K54eIWYusUh3WNl9ztDl/ka
pGDuIII9H1ajOTA3MBYGA1UdEQQPMA2CC2Z1dHVyZS50ZXN0MB0GA1UdDgQWBBQU
qCWFv4ddnNs5iwwDpZ6O5szfnDAKBggqhkjOPQQDAgNJADBGAiEAsAJ/OByy6cPC
sZIE7PAB8Za27ozp/alkXDh5uGbOazkCIQCLFgv5VpcK5pjBicK2ryg9IHMvzayK
ARj1LWWBv2BOMw==
-----END CERTIFICATE-----`

/** An intermediate certificate signed by the root. */
export const intermediate = `-----BEGIN CERTIFICATE-----
MIIBUzCB+aADAgECAgESMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCXRlc3Qgcm9v
dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowHDEaMBgGA1UEAwwR
dGVzdCBpbnRlcm1lZGlhdGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQxzpLS
vbTnq1Bjmzp8k4WN2eEaJo2bIqhC8pA/PozAKFkWd1WefPyueHiFmLrFId1jZfc7
Q5f5GqRg7iCCPR9WozIwMDAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBQUqCWF
v4ddnNs5iwwDpZ6O5szfnDAKBggqhkjOPQQDAgNJADBGAiEA8MJ3cdK6FH0W5/a9
ZRRJkluCGDtyBIujeJ5E9TXKN+0CIQDWokidNAK9+Ff0GAajQb+5a1vcxVkJXsRw
uzPML1HhWg==
-----END CERTIFICATE-----`

/** Signed by the intermediate for `deep.test`. */
export const deep = `-----BEGIN CERTIFICATE-----
MIIBWDCB/qADAgECAgETMAoGCCqGSM49BAMCMBwxGjAYBgNVBAMMEXRlc3QgaW50
ZXJtZWRpYXRlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAUMRIw
EAYDVQQDDAlkZWVwLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQxzpLS
vbTnq1Bjmzp8k4WN2eEaJo2bIqhC8pA/PozAKFkWd1WefPyueHiFmLrFId1jZfc7
Q5f5GqRg7iCCPR9WozcwNTAUBgNVHREEDTALgglkZWVwLnRlc3QwHQYDVR0OBBYE
FBSoJYW/h12c2zmLDAOlno7mzN+cMAoGCCqGSM49BAMCA0kAMEYCIQDud8ofwWzx
BPJATVQOjEET1pzLtSOV0T/8fMcPz27f2AIhALaxm5vgIWYxpKSdDytLxhHn53D9
1DJbATUP7vkalmUa
-----END CERTIFICATE-----`

/** A self-signed certificate for `self.test`. */
export const selfSigned = `-----BEGIN CERTIFICATE-----
MIIBUDCB9qADAgECAgEUMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCXNlbGYudGVz
dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
c2VsZi50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMc6S0r2056tQY5s6
fJOFjdnhGiaNmyKoQvKQPz6MwChZFndVnnz8rnh4hZi6xSHdY2X3O0OX+RqkYO4g
gj0fVqM3MDUwFAYDVR0RBA0wC4IJc2VsZi50ZXN0MB0GA1UdDgQWBBQUqCWFv4dd
nNs5iwwDpZ6O5szfnDAKBggqhkjOPQQDAgNJADBGAiEA4F7YckCHVbug399Uhfon
Tk/Bh38pllstA/Nrd/aR0sECIQDe2A1OgUtC8caSO8GvnEggAEwANa9LOSM9Q1zC
6MoXRw==
-----END CERTIFICATE-----`

/** A root certificate that no client trusts. */
export const otherRoot = `-----BEGIN CERTIFICATE-----
MIIBSzCB86ADAgECAgEVMAoGCCqGSM49BAMCMBUxEzARBgNVBAMMCm90aGVyIHJv
b3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBUxEzARBgNVBAMM
Cm90aGVyIHJvb3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQxzpLSvbTnq1Bj
mzp8k4WN2eEaJo2bIqhC8pA/PozAKFkWd1WefPyueHiFmLrFId1jZfc7Q5f5GqRg
7iCCPR9WozIwMDAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBQUqCWFv4ddnNs5
iwwDpZ6O5szfnDAKBggqhkjOPQQDAgNHADBEAiB14jQA1jH3mq7Quc8DBsPvqbF3
aW3v8n4PL/OkEVqhnAIgRe0ab8BJvqCVnQZUoeTtKiGgeO/Nv3YTNEZw36FZ9/I=
-----END CERTIFICATE-----`

/** Signed by the untrusted root for `foreign.test`. */
export const foreign = `-----BEGIN CERTIFICATE-----
MIIBVTCB/aADAgECAgEWMAoGCCqGSM49BAMCMBUxEzARBgNVBAMMCm90aGVyIHJv
b3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNVBAMM
DGZvcmVpZ24udGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDHOktK9tOer
UGObOnyThY3Z4RomjZsiqELykD8+jMAoWRZ3VZ58/K54eIWYusUh3WNl9ztDl/ka
pGDuIII9H1ajOjA4MBcGA1UdEQQQMA6CDGZvcmVpZ24udGVzdDAdBgNVHQ4EFgQU
FKglhb+HXZzbOYsMA6WejubM35wwCgYIKoZIzj0EAwIDRwAwRAIgX3Gx/aJVODTy
9JGQEtx+llAwOsuljfceFPmYOLBces0CIDgn4NzAwYzubqQOmY41XzvRgJsokBPX
7mO9PqXDZFKs
-----END CERTIFICATE-----`

/** Creates a certificate like `site`, signed by the root, that expires at the given time. */
export const siteUntil = (end: Date): string => {
  const der = Buffer.from(site.replaceAll(/-----[^-]+-----|\s/g, ""), "base64")
  const body = elementAt(der, headerLength(der, 0))
  const algorithm = elementAt(der, headerLength(der, 0) + body.length)
  const changed = Buffer.from(body)
  const time = end.toISOString().replaceAll(/[-:T]|\.\d+/g, "")
  changed.write(time, changed.indexOf("21200101000000Z"), "latin1")
  const signature = Buffer.concat([Buffer.from([0]), sign("sha256", changed, key)])
  const whole = element(0x30, Buffer.concat([changed, algorithm, element(0x03, signature)]))
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? []
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----"].join("\n")
}

/** Returns the number of bytes that the tag and the length take at the start of a DER element. */
const headerLength = (der: Buffer, at: number): number => {
  const first = der[at + 1] ?? 0
  return first < 0x80 ? 2 : 2 + (first & 0x7f)
}

const elementAt = (der: Buffer, at: number): Buffer => {
  const header = headerLength(der, at)
  const length = header === 2 ? (der[at + 1] ?? 0) : der.readUIntBE(at + 2, header - 2)
  return der.subarray(at, at + header + length)
}

const element = (tag: number, content: Buffer): Buffer => {
  const { length } = content
  const header =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...header]), content])
}
