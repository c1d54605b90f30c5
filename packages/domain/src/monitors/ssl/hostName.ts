import { Schema } from "effect"
import { keptAs } from "../../shared/keptAs.ts"

const longest = 253

/**
 * Converts a name such as `münchen.de` to the ASCII of DNS and certificates. Other texts stay
 * unchanged. A longer text cannot be a name, and the time to convert it would grow with the square
 * of its length.
 */
const asciiName = (text: string): string => {
  const isForeign =
    text.length <= longest && /[^\0-\x7f]/.test(text) && !/[\s%/?#@:\\[\]]/.test(text)
  return isForeign && URL.canParse(`https://${text}`) ? new URL(`https://${text}`).hostname : text
}

/**
 * Matches a host name or an IP address. Each part has a limit, because the time to refuse a long
 * text would grow with the square of its length.
 */
const nameOrAddress =
  /^(?=.{1,253}$)(?:[a-z\d_](?:[a-z\d_-]*[a-z\d])?\.)*[a-z\d_](?:[a-z\d_-]*[a-z\d])?\.?$|^[\da-f.]{0,45}:[\da-f:.]{0,45}$/i

const HostName = Schema.String.check(
  Schema.makeFilter((text) => nameOrAddress.test(asciiName(text)), {
    expected: "a host name or an IP address, without a scheme or port",
    toJsonSchema: () => ({ minLength: 1, maxLength: longest })
  })
)

/** A host name or an IP address, without anything that would make it a URL or a command. */
export const hostName = (description: string) =>
  keptAs(HostName, asciiName, { description, examples: ["www.example.com"] })
