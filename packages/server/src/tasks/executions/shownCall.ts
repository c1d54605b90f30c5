import { renderCall } from "@scheduling/calls/renderCall"
import { type CallValues, valuesOf } from "@scheduling/calls/templateValues"
import { mask } from "@scheduling/domain/calls/credentialHeaders"
import type { CallMethod } from "@scheduling/domain/calls/HttpCall"
import { isFilledIn, usedBy } from "@scheduling/domain/calls/TemplateCall"
import type { CallAuth } from "@scheduling/domain/calls/CallAuth"
import { Result } from "effect"

export interface SentCall {
  readonly method: CallMethod
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** A call in the form in which its task stores it, before references are replaced. */
export interface WrittenCall extends SentCall {
  readonly auth?: CallAuth | null
}

/**
 * Replaces each secret while a call is rendered, because the mask itself is not allowed in a
 * header.
 */
const placeholder = "scheduling-masked-secret"

/**
 * Renders the call that an attempt has sent, with each secret masked. Fails with the reason if the
 * attempt could not send anything.
 */
export const shownCall = (
  { auth = null, body, headers, method, url }: WrittenCall,
  values: Omit<CallValues, "secrets">
): Result.Result<SentCall, string> => {
  const call = { method, url, headers, body }
  if (!isFilledIn(call, auth ?? undefined)) return Result.succeed(call)
  const secrets = new Map([...usedBy(call).secrets].map((name) => [name, placeholder]))
  const masked = (text: string) => text.replaceAll(placeholder, mask)
  return Result.map(renderCall(call, valuesOf({ ...values, secrets })), (filled) => ({
    method,
    url: masked(filled.url),
    headers: {
      ...Object.fromEntries(
        Object.entries(filled.headers).map(([name, value]) => [name, masked(value)])
      ),
      ...(auth !== null && { authorization: mask })
    },
    body: filled.body === null ? null : masked(filled.body)
  }))
}
