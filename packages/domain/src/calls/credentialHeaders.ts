import { Result } from "effect"
import { parseTemplate } from "./Template.ts"

/** The text that is shown instead of a value that looks like a credential. */
export const mask = "•••"

/** The problem with a field that contains the mask but has no stored value. */
export const maskWithoutStoredValueProblem = `contains the mask ${mask}, but no value is stored; send the value`

const credential =
  /^(?:(?:set-)?cookie2?|scheduling-complete-url|x-auth)$|authorization|token|secret|passw|(?:api|auth|access|private|subscription|functions)[-_]?key|signature|credential|jwt/i

/** Returns true if the name of a header suggests that its value is a credential. */
export const isCredentialHeader = (name: string): boolean => credential.test(name)

type Headers = Readonly<Record<string, string>>

/** Masks each value in a message's headers that looks like a credential. */
export const maskedMessageHeaders = (headers: Headers): Headers =>
  withMasks(headers, isCredentialHeader)

/**
 * Masks the literal credentials in a definition's headers, for responses. References stay readable.
 * Headers without a credential are not copied, because lists call this for each task.
 */
export const maskedDefinitionHeaders = (headers: Headers): Headers => {
  for (const name in headers) {
    if (isHidden(name, headers[name] ?? "")) return withMasks(headers, isHidden)
  }
  return headers
}

const withMasks = (headers: Headers, isIt: (name: string, value: string) => boolean): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isIt(name, value) ? mask : value])
  )

const isHidden = (name: string, value: string): boolean =>
  isCredentialHeader(name) && holdsLiteral(value)

/**
 * The only text that is allowed around a reference: the name of an authentication scheme. Other
 * text may be a credential.
 */
const scheme = /^\s*(?:bearer|basic|token|apikey)?\s*$/i

const holdsLiteral = (value: string): boolean => {
  if (!value.includes("{{")) return value !== ""
  const template = parseTemplate(value)
  if (Result.isFailure(template)) return true
  return !scheme.test(template.success.filter((part) => typeof part === "string").join(""))
}

/** Returns true if a header of a request contains the mask instead of a credential. */
export const isMaskedHeader = (name: string, value: string): boolean =>
  value === mask && isCredentialHeader(name)

/** Replaces masks with the stored values. Header names are case-insensitive. */
export const restoredHeaders = (given: Headers, stored: Headers): Headers => {
  const values = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      isMaskedHeader(name, value) ? (values.get(name.toLowerCase()) ?? value) : value
    ])
  )
}
