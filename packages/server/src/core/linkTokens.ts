import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type KeyRing, mac } from "./Secrets.ts"

/** Creates a secret for a link that is sent to one person: 32 random bytes. */
export const makeLinkToken = (): Redacted.Redacted =>
  Redacted.make(randomBytes(32).toString("base64url"), { label: "token" })

/**
 * Returns the hash under which a token is stored. It includes the purpose, so that a token is
 * invalid for any other purpose.
 */
export const hashLinkToken = (
  [current]: KeyRing,
  what: LinkPurpose,
  token: Redacted.Redacted
): string => mac(current, `${what}:${Redacted.value(token)}`)

/** Returns the possible stored hashes of a token: with the current secret and with retired ones. */
export const linkTokenHashes = (
  ring: KeyRing,
  what: LinkPurpose,
  token: Redacted.Redacted
): ReadonlyArray<string> => ring.map((key) => hashLinkToken([key], what, token))

export type LinkPurpose = "invitation" | "password reset" | "email" | "sign in"
