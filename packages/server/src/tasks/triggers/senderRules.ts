import type { TriggerSender } from "@scheduling/domain/tasks/Trigger"
import { webhookHeaderNames } from "@scheduling/domain/webhooks/StandardWebhooks"
import type { Schema } from "effect"
import type { SignedRequest } from "./verifySignature.ts"

/**
 * Returns the event's id, which is the same for all attempts to deliver it. Only signed parts of a
 * request count, so that nobody can make a copy of a request look like another event. GitHub signs
 * only the body.
 */
export const eventIdOf = (
  sender: TriggerSender,
  { headers }: Pick<SignedRequest, "headers">,
  input: Schema.Json,
  signature: string
): string => {
  switch (sender) {
    case "standard_webhooks":
      return headers[webhookHeaderNames.id] ?? signature
    case "stripe":
      return textIn(input, "id") ?? signature
    case "slack":
      return textIn(input, "event_id") ?? signature
    case "github":
      return signature
  }
}

/**
 * Returns the response to a request with which the sender only checks the URL before it sends
 * events. Returns undefined if the request is an event.
 */
export const answerToUrlCheck = (
  sender: TriggerSender,
  { headers }: Pick<SignedRequest, "headers">,
  input: Schema.Json
): Schema.Json | undefined => {
  if (sender === "github") return headers["x-github-event"] === "ping" ? {} : undefined
  if (sender !== "slack" || textIn(input, "type") !== "url_verification") return undefined
  return { challenge: textIn(input, "challenge") ?? "" }
}

const textIn = (input: Schema.Json, field: string): string | undefined => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined
  const value = (input as Readonly<Record<string, Schema.Json>>)[field]
  return typeof value === "string" ? value : undefined
}
