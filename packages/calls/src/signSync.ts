import { parseSecret, signedPrefix } from "@scheduling/domain/webhooks/StandardWebhooks"
import { Option, Redacted } from "effect"
import { createHmac, createSecretKey, type KeyObject } from "node:crypto"

/** The domain's `sign` without promises, which cost more than the signature itself. */
export const signSync = (
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
  secrets: ReadonlyArray<Redacted.Redacted>
): Option.Option<string> => {
  const prefix = signedPrefix(message)
  const signatures = secrets.map((secret) =>
    Option.map(keyOf(secret), (key) => {
      const mac = createHmac("sha256", key).update(prefix).update(message.body)
      return `v1,${mac.digest("base64")}`
    })
  )
  return Option.map(Option.all(signatures), (parts) => parts.join(" "))
}

/** Keys are cached, because making one takes several times as long as signing with it. */
export const keyOf = (secret: Redacted.Redacted): Option.Option<KeyObject> => {
  const known = keys.get(secret)
  if (known !== undefined) return known
  const bytes = parseSecret(Redacted.value(secret))
  const key = bytes === undefined ? Option.none() : Option.some(createSecretKey(bytes))
  keys.set(secret, key)
  return key
}

const keys = new WeakMap<Redacted.Redacted, Option.Option<KeyObject>>()
