/** The text that replaces a value that looks like a credential. */
export const mask = "•••"

const credential =
  /^(?:(?:proxy-)?authorization|(?:set-)?cookie2?|scheduling-complete-url)$|token|secret|passw|api-?key|signature|credential/i

/** True if the name of a header says that its value is a credential. */
export const isCredentialHeader = (name: string): boolean => credential.test(name)

/** The headers, with a mask for each value that looks like a credential. */
export const maskedHeaders = (
  headers: Readonly<Record<string, string>>
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isCredentialHeader(name) ? mask : value])
  )
