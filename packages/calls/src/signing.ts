import {
  messageIdPrefix,
  parseSigningSecret,
  signedPrefix,
  signingSecretPrefix
} from "@scheduling/domain/webhooks/StandardWebhooks"
import { Option, Redacted } from "effect"
import { createHmac, createSecretKey, type KeyObject } from "node:crypto"

/**
 * `call`: the call of a task or a step. `message`: a callback of a task, or a message to a webhook
 * channel. Each purpose has its own secret, so that neither can be replayed as the other.
 */
export type SignaturePurpose = "call" | "message"

/** The root secrets of a workspace, newest first, and the purpose of the derived keys. */
export interface Signing {
  readonly purpose: SignaturePurpose
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/**
 * Derives the signing secret of one receiver, as `whsec_...`. The workspace's root secret signs
 * nothing and never leaves the service, so a receiver cannot compute the secret of another one.
 * Returns none if the root secret is invalid.
 */
export const deriveReceiverSecret = (
  workspaceSecret: Redacted.Redacted,
  purpose: SignaturePurpose,
  origin: string
): Option.Option<string> =>
  Option.map(
    derive(workspaceSecret, purpose, origin),
    (key) => signingSecretPrefix + key.toString("base64")
  )

/**
 * Returns the keys that sign requests to the origin, in the order of the workspace's root secrets.
 * Returns none if there is no root secret, or if one of them is invalid.
 */
export const receiverKeys = (
  { purpose, secrets }: Signing,
  origin: string
): Option.Option<ReadonlyArray<KeyObject>> =>
  secrets.length === 0
    ? Option.none()
    : Option.all(secrets.map((secret) => keyOf(secret, purpose, origin)))

export const signWithKeys = (
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
  keys: ReadonlyArray<KeyObject>
): string => {
  const prefix = signedPrefix(message)
  return keys
    .map((key) => {
      const mac = createHmac("sha256", key).update(prefix).update(message.body)
      return `v1,${mac.digest("base64")}`
    })
    .join(" ")
}

/** The `webhook-id` header. Its prefix shows the purpose, and the signature covers it. */
export const webhookId = (id: string, purpose: SignaturePurpose): string =>
  purpose === "message" ? messageIdPrefix + id : id

const derive = (secret: Redacted.Redacted, purpose: SignaturePurpose, origin: string) =>
  Option.map(cachedFor(secret).workspaceKey, (key) =>
    createHmac("sha256", key).update(`${purpose} ${origin}`).digest()
  )

const keyOf = (
  secret: Redacted.Redacted,
  purpose: SignaturePurpose,
  origin: string
): Option.Option<KeyObject> => {
  const { receivers } = cachedFor(secret)
  const name = `${purpose} ${origin}`
  const cached = receivers.get(name)
  if (cached !== undefined) return cached
  const key = Option.map(derive(secret, purpose, origin), (bytes) => createSecretKey(bytes))
  if (receivers.size >= maxReceivers) receivers.clear()
  receivers.set(name, key)
  return key
}

/**
 * The maximum number of cached receivers. It limits the memory, because a workspace may call any
 * number of origins.
 */
const maxReceivers = 1_000

interface Cached {
  readonly workspaceKey: Option.Option<KeyObject>
  readonly receivers: Map<string, Option.Option<KeyObject>>
}

/** Keys are cached, because creating a key takes several times as long as signing with it. */
const cachedFor = (secret: Redacted.Redacted): Cached => {
  const known = cache.get(secret)
  if (known !== undefined) return known
  const bytes = parseSigningSecret(Redacted.value(secret))
  const created: Cached = {
    workspaceKey: bytes === undefined ? Option.none() : Option.some(createSecretKey(bytes)),
    receivers: new Map()
  }
  cache.set(secret, created)
  return created
}

const cache = new WeakMap<Redacted.Redacted, Cached>()
