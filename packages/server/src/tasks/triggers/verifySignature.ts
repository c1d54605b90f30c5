import type { TriggerSender } from "@scheduling/domain/tasks/Trigger"
import {
  webhookHeaderNames,
  parseSigningSecret,
  parseRecentTimestamp
} from "@scheduling/domain/webhooks/StandardWebhooks"
import { createHmac } from "node:crypto"
import { isSameText } from "../../core/index.ts"

/** A request as its sender signed it. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** How a sender signs a request: with an HMAC-SHA256 of its content, sent in a header. */
interface Scheme {
  /** Returns the Unix time in a header. Undefined if the sender signs no time. */
  readonly timestamp?: (headers: SignedRequest["headers"]) => string
  readonly content: (request: SignedRequest, timestamp: string) => string
  readonly key: (secret: string) => string | Uint8Array | undefined
  readonly write: (mac: Buffer) => string
  /** Returns the signatures that the request contains. One of them must match. */
  readonly given: (headers: SignedRequest["headers"]) => ReadonlyArray<string>
}

/**
 * Returns the signature of the request if it is valid. If the sender signs the time, the signature
 * must be at most five minutes old. The result is the computed signature and not the header,
 * because the header may contain several signatures.
 */
export const verifySignature = (
  sender: TriggerSender,
  secret: string,
  request: SignedRequest,
  nowMs: number
): string | undefined => {
  const { content, given, key: keyOf, timestamp: timestampOf, write } = schemes[sender]
  const key = keyOf(secret)
  if (key === undefined) return undefined
  const timestamp = timestampOf?.(request.headers)
  if (timestamp !== undefined) {
    const read = parseRecentTimestamp(timestamp, Math.floor(nowMs / 1_000))
    if (typeof read === "string") return undefined
  }
  const signature = write(
    createHmac("sha256", key)
      .update(content(request, timestamp ?? ""))
      .digest()
  )
  return given(request.headers).some((one) => isSameText(one, signature)) ? signature : undefined
}

const inHeader = (headers: SignedRequest["headers"], name: string): string => headers[name] ?? ""

const withHex = (prefix: string) => (mac: Buffer) => prefix + mac.toString("hex")

/** Returns the values of `name` in Stripe's header, such as `t=1,v1=a,v1=b`. */
const inStripeHeader = (headers: SignedRequest["headers"], name: string): ReadonlyArray<string> =>
  inHeader(headers, "stripe-signature")
    .split(",")
    .flatMap((part) => (part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : []))

const schemes: Readonly<Record<TriggerSender, Scheme>> = {
  standard_webhooks: {
    timestamp: (headers) => inHeader(headers, webhookHeaderNames.timestamp),
    content: ({ body, headers }, timestamp) =>
      `${inHeader(headers, webhookHeaderNames.id)}.${timestamp}.${body}`,
    key: parseSigningSecret,
    write: (mac) => `v1,${mac.toString("base64")}`,
    given: (headers) => inHeader(headers, webhookHeaderNames.signature).split(" ")
  },
  github: {
    content: ({ body }) => body,
    key: (secret) => secret,
    write: withHex("sha256="),
    given: (headers) => [inHeader(headers, "x-hub-signature-256")]
  },
  stripe: {
    timestamp: (headers) => inStripeHeader(headers, "t")[0] ?? "",
    content: ({ body }, timestamp) => `${timestamp}.${body}`,
    key: (secret) => secret,
    write: withHex(""),
    given: (headers) => inStripeHeader(headers, "v1")
  },
  slack: {
    timestamp: (headers) => inHeader(headers, "x-slack-request-timestamp"),
    content: ({ body }, timestamp) => `v0:${timestamp}:${body}`,
    key: (secret) => secret,
    write: withHex("v0="),
    given: (headers) => [inHeader(headers, "x-slack-signature")]
  }
}
