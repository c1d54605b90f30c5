import { renderCall } from "@scheduling/calls/renderCall"
import { type CallValues, templateValuesOf } from "@scheduling/calls/templateValues"
import { mask } from "@scheduling/domain/calls/credentialHeaders"
import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import { needsValues, valuesUsedByCall } from "@scheduling/domain/calls/TemplateCall"
import type { CallAuth } from "@scheduling/domain/calls/CallAuth"
import { Result } from "effect"

/** A call as an attempt has sent it, with masked secrets. */
export interface SentCall {
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** A call as stored with its task, before its references are replaced. */
export interface StoredCall extends SentCall {
  readonly auth?: CallAuth | null
}

/**
 * The text that replaces each secret while a call is rendered. The mask itself is not allowed in a
 * header.
 */
const placeholder = "scheduling-masked-secret"

/**
 * Renders the call that an attempt has sent, with masked secrets. If the attempt cannot have sent
 * anything, fails with the cause.
 */
export const renderSentCall = (
  { auth = null, body, headers, method, url }: StoredCall,
  values: Omit<CallValues, "secrets">
): Result.Result<SentCall, string> => {
  const call = { method, url, headers, body }
  if (!needsValues(call, auth ?? undefined)) return Result.succeed(call)
  const secrets = new Map([...valuesUsedByCall(call).secrets].map((name) => [name, placeholder]))
  const maskText = (text: string) => text.replaceAll(placeholder, mask)
  return Result.map(renderCall(call, templateValuesOf({ ...values, secrets })), (filled) => ({
    method,
    url: maskText(filled.url),
    headers: {
      ...Object.fromEntries(
        Object.entries(filled.headers).map(([name, value]) => [name, maskText(value)])
      ),
      ...(auth !== null && { authorization: mask })
    },
    body: filled.body === null ? null : maskText(filled.body)
  }))
}
