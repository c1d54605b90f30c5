import { Schema } from "effect"
import { keptAs } from "../shared/keptAs.ts"

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
const domainAsWritten = /^[\p{L}\p{N}\p{M}.。．｡-]{1,253}$/u

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"

/**
 * Matches a domain whose last label contains a letter. A label of digits only would make the domain
 * an IP address.
 */
const domainOfMail = new RegExp(`^(?:${label}\\.)*(?=[a-z0-9-]*[a-z])${label}$`)

/**
 * Returns the canonical form of an email address, which is stored, compared, counted and mailed to,
 * or undefined if the text is not a single address. The local part is lower-cased: a server could
 * distinguish `Ada@` from `ada@`, but hardly any does. The domain is converted to ASCII (UTS 46).
 */
export const canonicalEmail = (text: string): string | undefined => {
  const given = text.trim()
  // The length is checked first, because it bounds the cost of the patterns.
  if (given.length > maxEmailLength) return undefined
  const at = given.lastIndexOf("@")
  const local = given.slice(0, Math.max(at, 0)).normalize("NFKC").toLowerCase()
  const domain = given.slice(at + 1)
  if (!localPart.test(local) || !domainAsWritten.test(domain)) return undefined
  if (!URL.canParse(`http://${domain}`)) return undefined
  const { hostname } = new URL(`http://${domain}`)
  const canonical = `${local}@${hostname}`
  return domainOfMail.test(hostname) && canonical.length <= maxEmailLength ? canonical : undefined
}

/**
 * Returns the likely mailbox of an address, for rate limits on mails: without a `+tag` and without
 * dots, which many providers ignore.
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
  keptAs(
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

/** The email of a person. All spellings of an address are the same account. */
export const Email = emailWhere(
  (domain) => hasTopLevel.test(domain),
  { format: "email" },
  {
    description: "An email address, in upper or lower case.",
    examples: ["ada@example.com"]
  }
)

/** A rough pattern for forms, which cannot convert a domain. */
const nearlyAnAddress = String.raw`^\s*[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,189}\s*$`

/** An address to send mail to. The host may be in the operator's own network. */
export const MailAddress = (annotations: Schema.Annotations.Documentation<string>) =>
  emailWhere(() => true, { pattern: nearlyAnAddress }, annotations)
