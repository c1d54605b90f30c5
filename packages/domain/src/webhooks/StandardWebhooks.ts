/**
 * Standard Webhooks (https://www.standardwebhooks.com) on WebCrypto alone, so that the same code
 * signs in the server and verifies in Node, Bun, Deno, browsers and edge runtimes. Imports nothing,
 * because the SDK ships this file to users without Effect.
 */
export const webhookHeaderNames = {
  id: "webhook-id",
  timestamp: "webhook-timestamp",
  signature: "webhook-signature"
} as const

/**
 * The maximum clock difference of a message in either direction. The reference libraries have the
 * same default.
 */
export const defaultToleranceSeconds = 300

export const signingSecretPrefix = "whsec_"

/**
 * The prefix of the `webhook-id` of callbacks and of messages to webhook channels. The `webhook-id`
 * of a task's call is the execution id without a prefix.
 */
export const messageIdPrefix = "msg_"

/** Requires groups of four characters, and padding only at the end. `atob` enforces neither. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Returns the key in `whsec_...`, or undefined if the string is not a secret of 24 to 64 bytes. */
export const parseSigningSecret = (secret: string): Uint8Array<ArrayBuffer> | undefined => {
  const encoded = secret.slice(signingSecretPrefix.length)
  if (!secret.startsWith(signingSecretPrefix) || !base64.test(encoded)) return undefined
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
  return bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined
}

export interface WebhookMessage {
  readonly id: string
  /** Unix seconds. */
  readonly timestamp: number
  /** The body as sent. Pass bytes if you have them: decoding and encoding may change them. */
  readonly body: string | Uint8Array
}

/** Returns the part of the signed string `{id}.{timestamp}.{body}` that precedes the body. */
export const signedPrefix = (message: Pick<WebhookMessage, "id" | "timestamp">) =>
  `${message.id}.${message.timestamp}.`

const encoder = new TextEncoder()

/** Returns the signed string as bytes. */
export const signedContent = (message: WebhookMessage): Uint8Array<ArrayBuffer> => {
  const head = encoder.encode(signedPrefix(message))
  const body = typeof message.body === "string" ? encoder.encode(message.body) : message.body
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return content
}

const hmac = { name: "HMAC", hash: "SHA-256" } as const

/** Computes one signature for the `webhook-signature` header. */
export const computeSignature = async (
  content: Uint8Array<ArrayBuffer>,
  secret: Uint8Array<ArrayBuffer>
): Promise<string> => {
  const key = await crypto.subtle.importKey("raw", secret, hmac, false, ["sign"])
  const mac = await crypto.subtle.sign(hmac.name, key, content)
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`
}

/** Compares in constant time, so that timing reveals nothing about a guess. */
export const equalInConstantTime = (left: string, right: string): boolean => {
  const a = encoder.encode(left)
  const b = encoder.encode(right)
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0)
  return difference === 0
}

export type TimestampProblem = "malformed_timestamp" | "timestamp_too_old" | "timestamp_too_new"

/** Parses `webhook-timestamp` and rejects a time that suggests a replay. */
export const parseRecentTimestamp = (
  text: string,
  nowSeconds: number,
  toleranceSeconds = defaultToleranceSeconds
): number | TimestampProblem => {
  if (!/^\d{1,12}$/.test(text)) return "malformed_timestamp"
  const timestamp = Number(text)
  if (timestamp < nowSeconds - toleranceSeconds) return "timestamp_too_old"
  return timestamp > nowSeconds + toleranceSeconds ? "timestamp_too_new" : timestamp
}

/** A received message that is not verified yet. */
export interface ReceivedMessage {
  readonly id: string
  readonly timestamp: string
  /** The whole header, which can contain several signatures and versions. */
  readonly signature: string
  readonly body: string | Uint8Array
}

export type VerificationProblem = TimestampProblem | "malformed_secret" | "no_matching_signature"

/**
 * Returns why a message cannot be verified, or undefined if it is recent and one of its signatures
 * matches one of the secrets.
 */
export const findVerificationProblem = async (
  received: ReceivedMessage,
  secrets: ReadonlyArray<string>,
  options: { readonly nowSeconds: number; readonly toleranceSeconds?: number | undefined }
): Promise<VerificationProblem | undefined> => {
  const timestamp = parseRecentTimestamp(
    received.timestamp,
    options.nowSeconds,
    options.toleranceSeconds
  )
  if (typeof timestamp === "string") return timestamp
  const content = signedContent({ id: received.id, timestamp, body: received.body })
  const given = received.signature.split(" ")
  for (const secret of secrets) {
    const key = parseSigningSecret(secret)
    if (key === undefined) return "malformed_secret"
    const expected = await computeSignature(content, key)
    if (given.some((candidate) => equalInConstantTime(candidate, expected))) return undefined
  }
  return "no_matching_signature"
}
