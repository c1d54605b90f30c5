import { Schema } from "effect"
import { keptAs } from "../shared/keptAs.ts"

export const maxEmailLength = 254

/**
 * No quotes, no comments and no characters that are invisible. Letters of all scripts may be in a
 * local part, after NFKC has replaced wide letters, ligatures and the like with plain ones.
 */
const localPart =
  /^(?=.{1,64}$)[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u

/** Nothing that the URL parser would decode or cut off. `。`, `．` and `｡` are dots to it, and to mail servers. */
const domainAsWritten = /^[\p{L}\p{N}\p{M}.。．｡-]{1,253}$/u

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"

/** The last label has a letter: with digits alone it would be an IP address. */
const domainOfMail = new RegExp(`^(?:${label}\\.)*(?=[a-z0-9-]*[a-z])${label}$`)

/**
 * The one spelling of an email address by which it is stored, compared, counted and written to.
 * The local part is lower-cased too: a server may tell `Ada@` from `ada@`, but hardly any does. The
 * domain is mapped as in UTS 46, to the ASCII that is looked up in DNS. Undefined if the text is not
 * one address.
 */
export const canonicalEmail = (text: string): string | undefined => {
  const given = text.trim()
  // The length first: it bounds what the patterns have to do.
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
 * The mailbox that an address very likely belongs to, for counting mails only: without a `+tag` and
 * without dots, which many providers pass over.
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

/** The email of a person. One address is one account, however it is written. */
export const Email = emailWhere(
  (domain) => hasTopLevel.test(domain),
  { format: "email" },
  {
    description: "An email address. Letters may be written in either case.",
    examples: ["ada@example.com"]
  }
)

/** For forms, which cannot map a domain. */
const nearlyAnAddress = String.raw`^\s*[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,189}\s*$`

/** An address that mails are sent to, which may be on a host of the operator's own network. */
export const MailAddress = (annotations: Schema.Annotations.Documentation<string>) =>
  emailWhere(() => true, { pattern: nearlyAnAddress }, annotations)
