import { Schema } from "effect"
import { normalizedString } from "../shared/normalizedString.ts"

export const maxEmailLength = 254

/**
 * Matches a local part without quotes, comments and invisible characters. Letters of all scripts
 * are allowed. NFKC has already replaced wide letters, ligatures and similar characters.
 */
const localPart =
  /^(?=.{1,64}$)[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u

/**
 * Matches a domain without characters that the URL parser decodes or cuts off. The parser and mail
 * servers read `。`, `．` and `｡` as dots.
 */
const writtenDomainPattern = /^[\p{L}\p{N}\p{M}.。．｡-]{1,253}$/u

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"

/**
 * Matches a domain whose last label contains a letter. A label of digits only would make the domain
 * an IP address.
 */
const mailDomainPattern = new RegExp(`^(?:${label}\\.)*(?=[a-z0-9-]*[a-z])${label}$`)

/**
 * Returns the canonical form of an email address, or undefined if the text is not exactly one
 * address. This form is stored, compared and used in emails. The local part is lower-cased: a
 * server could distinguish `Ada@` from `ada@`, but hardly any server does. The domain is converted
 * to ASCII (UTS 46).
 */
export const canonicalEmail = (text: string): string | undefined => {
  const given = text.trim()
  // The length is checked first, because it bounds the cost of the patterns.
  if (given.length > maxEmailLength) return undefined
  const at = given.lastIndexOf("@")
  const local = given.slice(0, Math.max(at, 0)).normalize("NFKC").toLowerCase()
  const domain = given.slice(at + 1)
  if (!localPart.test(local) || !writtenDomainPattern.test(domain)) return undefined
  if (!URL.canParse(`http://${domain}`)) return undefined
  const { hostname } = new URL(`http://${domain}`)
  const canonical = `${local}@${hostname}`
  return mailDomainPattern.test(hostname) && canonical.length <= maxEmailLength
    ? canonical
    : undefined
}

/**
 * Returns an address's likely mailbox, for email rate limits: the address without a `+tag` and
 * without dots, which many providers ignore.
 */
export const mailboxOf = (email: string): string => {
  const [local = "", domain = ""] = email.split("@")
  const [untagged = ""] = local.split("+")
  return `${(untagged === "" ? local : untagged).replaceAll(".", "")}@${domain}`
}

const emailWhere = (
  isKnown: (domain: string) => boolean,
  jsonSchema: object,
  annotations: Schema.Annotations.Documentation<string>
) =>
  normalizedString(
    Schema.String.check(
      Schema.makeFilter(
        (text) => {
          const email = canonicalEmail(text)
          return email !== undefined && isKnown(email.slice(email.lastIndexOf("@") + 1))
        },
        {
          expected: `an email address of at most ${maxEmailLength} characters`,
          toJsonSchema: () => ({ ...jsonSchema, maxLength: maxEmailLength })
        }
      )
    ),
    (text) => canonicalEmail(text) ?? text,
    annotations
  )

const hasTopLevel = /\.[^.]{2,}$/

/** A person's email. All spellings of an address identify the same account. */
export const Email = emailWhere(
  (domain) => hasTopLevel.test(domain),
  { format: "email" },
  {
    description: "An email address, in upper or lower case.",
    examples: ["ada@example.com"]
  }
)

/** An approximate pattern for forms, because a pattern cannot convert the domain to ASCII. */
const approximateAddressPattern = String.raw`^\s*[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,189}\s*$`

/**
 * An address to send email to. Its domain needs no dot, because the host can be in the operator's
 * own network.
 */
export const MailAddress = (annotations: Schema.Annotations.Documentation<string>) =>
  emailWhere(() => true, { pattern: approximateAddressPattern }, annotations)
