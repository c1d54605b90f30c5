import { apiKeyPrefix, shownPrefixLength } from "@scheduling/domain/api-keys/ApiKey"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type KeyRing, mac } from "../platform/Secrets.ts"

/** 32 random bytes: 43 characters of base64url, 47 with the prefix. */
export const makeKey = (): Redacted.Redacted =>
  Redacted.make(apiKeyPrefix + randomBytes(32).toString("base64url"), { label: "api_key" })

export const shownPrefix = (key: Redacted.Redacted): string =>
  Redacted.value(key).slice(0, shownPrefixLength)

/** Anything else is refused before the database is asked. */
export const isWellFormed = (credential: string): boolean => form.test(credential)

const form = /^pak_[A-Za-z0-9_-]{43}$/

/** What is kept of a key. The HMAC key is not in the database, so a dump of it verifies nobody. */
export const hashKey = ([current]: KeyRing, key: Redacted.Redacted): string =>
  mac(current, Redacted.value(key))

/** The hashes under which a key may be known: today's, and those of retired secrets. */
export const hashesOf = (ring: KeyRing, key: string): ReadonlyArray<string> =>
  ring.map((pepper) => mac(pepper, key))
