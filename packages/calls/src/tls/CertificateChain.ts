import type { DetailedPeerCertificate, PeerCertificate } from "node:tls"

/** The displayed parts of a certificate. Times are in milliseconds since the epoch. */
export interface ChainCertificate {
  readonly subject: string
  readonly issuer: string
  readonly fingerprint_sha256: string
  readonly valid_from: number
  readonly valid_to: number
}

export interface ServerCertificate extends ChainCertificate {
  readonly names: ReadonlyArray<string>
  readonly serial: string
  /** The issuers, nearest first. The root is omitted, because clients have their own copy. */
  readonly chain: ReadonlyArray<ChainCertificate>
}

/** Returns the first certificate that has expired, beginning with that of the server. */
export const findExpired = (
  certificate: ServerCertificate,
  nowMs: number
): ChainCertificate | undefined =>
  [certificate, ...certificate.chain].find(({ valid_to }) => nowMs > valid_to)

/** Limits on the stored data, because a server may send anything. */
const maxChain = 10
const maxNames = 100
const maxText = 300

/** Returns undefined if the server presented no certificate. */
export const toServerCertificate = (
  peer: DetailedPeerCertificate
): ServerCertificate | undefined => {
  if (!peer.raw) return undefined
  const issuers: Array<DetailedPeerCertificate> = []
  let last = peer
  while (issuers.length < maxChain) {
    const next: DetailedPeerCertificate | undefined = last.issuerCertificate
    // A root is its own issuer.
    if (next === undefined || next.fingerprint256 === last.fingerprint256) break
    issuers.push(next)
    last = next
  }
  return {
    ...read(peer),
    names: namesOf(peer.subjectaltname ?? ""),
    serial: peer.serialNumber.slice(0, maxText),
    chain: issuers.filter((one) => !isRoot(one)).map(read)
  }
}

const isRoot = (one: DetailedPeerCertificate) => nameOf(one.subject) === nameOf(one.issuer)

const read = (one: PeerCertificate): ChainCertificate => ({
  subject: nameOf(one.subject),
  issuer: nameOf(one.issuer),
  fingerprint_sha256: one.fingerprint256.replaceAll(":", ""),
  valid_from: Date.parse(one.valid_from),
  valid_to: Date.parse(one.valid_to)
})

/** `{ C: "US", CN: ["a", "b"] }` → `C=US, CN=a, CN=b` */
const nameOf = (name: PeerCertificate["subject"]): string =>
  Object.entries(name ?? {})
    .flatMap(([key, value]: [string, unknown]) =>
      [value].flat().map((one) => `${key}=${String(one)}`)
    )
    .join(", ")
    .slice(0, maxText)
    .toWellFormed()
    .replaceAll("\0", "\ufffd")

/** `DNS:a.example, IP Address:192.0.2.1` → `a.example`, `192.0.2.1` */
const namesOf = (alternatives: string): ReadonlyArray<string> =>
  alternatives
    .split(", ")
    .flatMap((one) => /^(?:DNS|IP Address):(.+)$/.exec(one)?.[1] ?? [])
    .slice(0, maxNames)
    .map((name) => name.slice(0, maxText).replaceAll("\0", "\ufffd"))
