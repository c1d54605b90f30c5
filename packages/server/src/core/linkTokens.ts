import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type KeyRing, mac } from "./Secrets.ts"

/** A secret that one person is sent: 32 random bytes. */
export const makeLinkToken = (): Redacted.Redacted =>
  Redacted.make(randomBytes(32).toString("base64url"), { label: "token" })

/** What is stored of it. A token for one thing is none for another. */
export const hashLinkToken = (
  [current]: KeyRing,
  what: LinkPurpose,
  token: Redacted.Redacted
): string => mac(current, `${what}:${Redacted.value(token)}`)

/** What it may be stored as: under today's secret, and under retired ones. */
export const linkTokenHashes = (
  ring: KeyRing,
  what: LinkPurpose,
  token: Redacted.Redacted
): ReadonlyArray<string> => ring.map((key) => hashLinkToken([key], what, token))

export type LinkPurpose = "invitation" | "password reset" | "email"
