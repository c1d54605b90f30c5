import { mask } from "@scheduling/domain/calls/credentialHeaders"

/** A shorter beginning of a secret at the end of a text that was cut off is left as it is. */
const shortestRest = 4

/** A shorter piece of base64 stands in many texts by chance. */
const shortestBase64 = 6

/** Headers of an answer are cut at 4,096 bytes, and bodies later. The cut may drop a last character. */
const shortestCut = 4_093

const htmlForms: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** How a server may write a value that it got: as it is, or encoded. */
const writtenForms = (secret: string): ReadonlyArray<string> => {
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
 * Alone, or as a part of a longer text that was encoded, such as `user:secret`. There it begins at one of
 * three offsets, and the middle of it is always there.
 */
const base64Of = (text: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((offset) => {
    const base64 = Buffer.from(`${"\0".repeat(offset)}${text}`)
      .toString("base64")
      .replace(/=+$/, "")
      .slice(offset === 0 ? 0 : 4, -1)
    return base64.length < shortestBase64
      ? []
      : [base64, base64.replaceAll("+", "-").replaceAll("/", "_")]
  })

/**
 * Returns a function that replaces secrets in what came back from a server. A text may have been cut off
 * within a secret, so the beginning of one at its end is replaced too.
 */
export const secretsMasker = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  const known = maskers.get(secrets)
  if (known !== undefined) return known
  const masker = makeMasker(secrets)
  maskers.set(secrets, masker)
  return masker
}

/** Finding all spellings of a secret takes longer than masking an answer. */
const maskers = new WeakMap<ReadonlyArray<string>, (text: string) => string>()

const makeMasker = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  const forms = [...new Set(secrets.flatMap(writtenForms))].toSorted((a, b) => b.length - a.length)
  return (text) => {
    let masked = text
    for (const form of forms) masked = masked.replaceAll(form, mask)
    if (Buffer.byteLength(text) < shortestCut) return masked
    const rest = Math.max(0, ...forms.map((form) => lengthOfRest(masked, form)))
    return rest === 0 ? masked : masked.slice(0, -rest) + mask
  }
}

/** How many characters at the end of a text are the beginning of a secret. */
const lengthOfRest = (text: string, form: string): number => {
  for (let length = Math.min(form.length - 1, text.length); length >= shortestRest; length--) {
    if (text.endsWith(form.slice(0, length))) return length
  }
  return 0
}
