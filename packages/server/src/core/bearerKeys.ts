import { bearerKeyForm } from "@scheduling/domain/auth/secretForms"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { type KeyRing, mac } from "./Secrets.ts"

/**
 * Creates and checks keys that programs store and send: a prefix for the kind, and 32 random bytes.
 */
export const bearerKeys = (prefix: string, label: string) => {
  const form = new RegExp(`^${bearerKeyForm(prefix)}$`)
  return {
    make: (): Redacted.Redacted =>
      Redacted.make(prefix + randomBytes(32).toString("base64url"), { label }),
    /** Lets a caller refuse a malformed credential without a query. */
    isWellFormed: (credential: string): boolean => form.test(credential)
  }
}

const shownLength = 12

/** The part of a key that lists show. */
export const shownPrefix = (key: Redacted.Redacted): string =>
  Redacted.value(key).slice(0, shownLength)

/**
 * The stored hash of a key. The HMAC key is not in the database, so a dump of it verifies nothing.
 */
export const hashKey = ([current]: KeyRing, key: Redacted.Redacted): string =>
  mac(current, Redacted.value(key))

/** The hashes under which a key may be stored: with the current secret, and with retired ones. */
export const hashesOf = (ring: KeyRing, key: string): ReadonlyArray<string> =>
  ring.map((pepper) => mac(pepper, key))
