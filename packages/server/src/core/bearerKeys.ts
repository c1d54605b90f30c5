import { bearerKeyPattern } from "@scheduling/domain/auth/secretPatterns"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type KeyRing, mac } from "./Secrets.ts"

/**
 * Creates and validates keys that programs store and send: a prefix for the kind, followed by 32
 * random bytes.
 */
export const bearerKeys = (prefix: string, label: string) => {
  const keyPattern = new RegExp(`^${bearerKeyPattern(prefix)}$`)
  return {
    make: (): Redacted.Redacted =>
      Redacted.make(prefix + randomBytes(32).toString("base64url"), { label }),
    /** Lets a caller reject a malformed credential without querying the database. */
    isWellFormed: (credential: string): boolean => keyPattern.test(credential)
  }
}

const prefixLength = 12

/** Returns the beginning of a key, which lists show so that users can recognize the key. */
export const shownPrefixOf = (key: Redacted.Redacted): string =>
  Redacted.value(key).slice(0, prefixLength)

/**
 * Returns the hash under which a key is stored. It is an HMAC whose key is not in the database, so
 * nobody can verify guessed keys with a dump of the database.
 */
export const hashBearerKey = ([current]: KeyRing, key: Redacted.Redacted): string =>
  mac(current, Redacted.value(key))

/** Returns the possible stored hashes of a key: with the current secret and with retired ones. */
export const bearerKeyHashes = (ring: KeyRing, key: string): ReadonlyArray<string> =>
  ring.map((pepper) => mac(pepper, key))
