import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type KeyRing, mac } from "./Secrets.ts"

/** A secret in a link for one person: 32 random bytes. */
export const makeLinkToken = (): Redacted.Redacted =>
  Redacted.make(randomBytes(32).toString("base64url"), { label: "token" })

/**
 * The stored hash of a token. It covers the purpose, so a token for one purpose fails for another.
 */
export const hashLinkToken = (
  [current]: KeyRing,
  what: LinkPurpose,
  token: Redacted.Redacted
): string => mac(current, `${what}:${Redacted.value(token)}`)

/** The hashes under which a token may be stored: with the current secret, and with retired ones. */
export const linkTokenHashes = (
  ring: KeyRing,
  what: LinkPurpose,
  token: Redacted.Redacted
): ReadonlyArray<string> => ring.map((key) => hashLinkToken([key], what, token))

export type LinkPurpose = "invitation" | "password reset" | "email"
