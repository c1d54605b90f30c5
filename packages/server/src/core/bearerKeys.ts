import { bearerKeyForm } from "@scheduling/domain/auth/secretForms"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type KeyRing, mac } from "./Secrets.ts"

/**
 * Creates and validates keys that programs store and send: a prefix for the kind, followed by 32
 * random bytes.
 */
export const bearerKeys = (prefix: string, label: string) => {
  const form = new RegExp(`^${bearerKeyForm(prefix)}$`)
  return {
    make: (): Redacted.Redacted =>
      Redacted.make(prefix + randomBytes(32).toString("base64url"), { label }),
    /** Lets a caller reject a malformed credential without a query. */
    isWellFormed: (credential: string): boolean => form.test(credential)
  }
}

const prefixLength = 12

/** Returns the part of a key that lists show. */
export const displayPrefix = (key: Redacted.Redacted): string =>
  Redacted.value(key).slice(0, prefixLength)

/**
 * Returns the hash under which a key is stored. The HMAC key is not in the database, so a dump of
 * the database cannot be used to verify keys.
 */
export const hashKey = ([current]: KeyRing, key: Redacted.Redacted): string =>
  mac(current, Redacted.value(key))

/** Returns the possible stored hashes of a key: with the current secret and with retired ones. */
export const hashesOf = (ring: KeyRing, key: string): ReadonlyArray<string> =>
  ring.map((pepper) => mac(pepper, key))
