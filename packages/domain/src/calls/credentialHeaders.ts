import { Result } from "effect"
import { parseTemplate } from "./Template.ts"

/** The text that replaces a value that looks like a credential. */
export const mask = "•••"

/** The problem of a field that is sent with the mask, but has no stored value to keep. */
export const nothingStored = `holds the mask ${mask}, but no value is stored for it: send the value`

const credential =
  /^(?:(?:set-)?cookie2?|scheduling-complete-url|x-auth)$|authorization|token|secret|passw|(?:api|auth|access|private|subscription|functions)[-_]?key|signature|credential|jwt/i

/** True if the name of a header says that its value is a credential. */
export const isCredentialHeader = (name: string): boolean => credential.test(name)

type Headers = Readonly<Record<string, string>>

/** The headers of a message, with a mask for each value that looks like a credential. */
export const maskedHeaders = (headers: Headers): Headers => withMasks(headers, isCredentialHeader)

/**
 * The headers of a definition as answers show them: with a mask for each credential that is written
 * out, and not a reference. Headers without one are not copied, because lists ask for each task.
 */
export const shownHeaders = (headers: Headers): Headers => {
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

/** The text beside a reference may only be the name of a scheme. */
const scheme = /^\s*(?:bearer|basic|token|apikey)?\s*$/i

const holdsLiteral = (value: string): boolean => {
  if (!value.includes("{{")) return value !== ""
  const template = parseTemplate(value)
  if (Result.isFailure(template)) return true
  return !scheme.test(template.success.filter((part) => typeof part === "string").join(""))
}

/** Whether a header of a request holds the mask in place of a credential. */
export const isMasked = (name: string, value: string): boolean =>
  value === mask && isCredentialHeader(name)

/** Puts the stored value back where a header holds the mask. The case of names does not count. */
export const restoredHeaders = (given: Headers, stored: Headers): Headers => {
  const values = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      isMasked(name, value) ? (values.get(name.toLowerCase()) ?? value) : value
    ])
  )
}
