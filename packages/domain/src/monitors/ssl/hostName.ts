import { Schema } from "effect"
import { normalizedString } from "../../shared/normalizedString.ts"

const longest = 253

/**
 * Converts a name such as `münchen.de` to ASCII, as used in DNS and certificates. Other texts stay
 * unchanged. Texts that are too long for a name are not converted, because that takes quadratic
 * time.
 */
const asciiName = (text: string): string => {
  const isForeign =
    text.length <= longest && /[^\0-\x7f]/.test(text) && !/[\s%/?#@:\\[\]]/.test(text)
  return isForeign && URL.canParse(`https://${text}`) ? new URL(`https://${text}`).hostname : text
}

/**
 * Matches a host name or an IP address. Each part has a maximum length, because rejecting a long
 * text would take quadratic time.
 */
const nameOrAddress =
  /^(?=.{1,253}$)(?:[a-z\d_](?:[a-z\d_-]*[a-z\d])?\.)*[a-z\d_](?:[a-z\d_-]*[a-z\d])?\.?$|^[\da-f.]{0,45}:[\da-f:.]{0,45}$/i

const HostName = Schema.String.check(
  Schema.makeFilter((text) => nameOrAddress.test(asciiName(text)), {
    expected: "a host name or an IP address, without a scheme or port",
    toJsonSchema: () => ({ minLength: 1, maxLength: longest })
  })
)

/** The schema of a host name or an IP address. It rejects URLs and shell commands. */
export const hostName = (description: string) =>
  normalizedString(HostName, asciiName, { description, examples: ["www.example.com"] })
