import { mask } from "@scheduling/domain/calls/credentialHeaders"
import { RegExp as Patterns } from "effect"

/** The minimum length of a prefix of a secret that is masked at the end of a truncated text. */
const minPrefixLength = 4

/**
 * The minimum length of a piece of base64 that is masked. Shorter pieces occur in many texts by
 * chance.
 */
const minBase64Length = 6

/**
 * The minimum length of a text that can have been truncated. Response headers are truncated to
 * 4,096 bytes, and bodies to more. Truncation can also drop an incomplete last character.
 */
const minTruncatedLength = 4_093

const htmlForms: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Returns the forms in which a server may echo a value: verbatim or encoded. */
const echoedForms = (secret: string): ReadonlyArray<string> => {
  const json = JSON.stringify(secret).slice(1, -1)
  const inUrl = encodeURIComponent(secret.toWellFormed())
  return [
    secret,
    json,
    json.replaceAll(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
    ),
    json.replaceAll("/", "\\/"),
    secret.replaceAll("/", "\\/"),
    inUrl,
    inUrl.replaceAll("'", "%27"),
    new URLSearchParams([["", secret]]).toString().slice(1),
    secret.replaceAll(/[&<>"']/g, (character) => htmlForms[character] ?? character),
    ...base64Of(secret)
  ]
}

/**
 * Returns the base64 forms of a text, either alone or within a longer encoded text, such as
 * `user:secret`. Within a longer text it starts at one of three offsets, and its middle part is
 * always present.
 */
const base64Of = (text: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((offset) => {
    const base64 = Buffer.from(`${"\0".repeat(offset)}${text}`)
      .toString("base64")
      .replace(/=+$/, "")
      .slice(offset === 0 ? 0 : 4, -1)
    return base64.length < minBase64Length
      ? []
      : [base64, base64.replaceAll("+", "-").replaceAll("/", "_")]
  })

/**
 * Returns a function that masks secrets in a response. The response may be truncated within a
 * secret, so a prefix of a secret at its end is masked too.
 */
export const secretsMasker = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  const known = maskers.get(secrets)
  if (known !== undefined) return known
  const masker = makeMasker(secrets)
  maskers.set(secrets, masker)
  return masker
}

/**
 * The masker of each list of secrets is cached, because computing all forms of a secret takes
 * longer than masking a response.
 */
const maskers = new WeakMap<ReadonlyArray<string>, (text: string) => string>()

const makeMasker = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  const forms = [...new Set(secrets.flatMap(echoedForms))].toSorted((a, b) => b.length - a.length)
  // Most texts contain no form, and one search for all of them takes a fifth of the time.
  const anyForm = new RegExp(forms.map(Patterns.escape).join("|"))
  return (text) => {
    let masked = text
    if (anyForm.test(text)) for (const form of forms) masked = masked.replaceAll(form, mask)
    if (Buffer.byteLength(text) < minTruncatedLength) return masked
    const rest = Math.max(0, ...forms.map((form) => trailingPrefixLength(masked, form)))
    return rest === 0 ? masked : masked.slice(0, -rest) + mask
  }
}

/** Returns how many characters at the end of a text are a prefix of a secret. */
const trailingPrefixLength = (text: string, form: string): number => {
  for (let length = Math.min(form.length - 1, text.length); length >= minPrefixLength; length--) {
    if (text.endsWith(form.slice(0, length))) return length
  }
  return 0
}
