import { Schema } from "effect"

/** PostgreSQL text holds neither NUL nor half a surrogate pair, so no string with them comes in. */
const isStorable = Schema.makeFilter<string>(
  (text) => !text.includes("\u0000") && text.isWellFormed(),
  {
    expected: "text without NUL characters or lone surrogates"
  }
)

/**
 * JSON Schema counts characters and JavaScript UTF-16 units, so Effect documents half of `min`: six
 * emoji would do for a password of 12. Everybody else is better served by the plain number.
 */
const isBetweenLength = (min: number, max: number) =>
  Schema.isBetweenLength(min, max, {
    toJsonSchema: () => ({ minLength: min, maxLength: max })
  })

/** The length comes last: annotations land on the last check, and only that one is documented. */
export const text = (limits: { readonly min: number; readonly max: number }) =>
  Schema.String.check(isStorable, isBetweenLength(limits.min, limits.max))

const controlCharacter = /\p{Cc}/u

/**
 * A one-line label for people: trimmed, not blank, free of control characters. The document shows
 * the string before it is trimmed, which carries no checks, so the lengths are annotated there.
 */
export const label = (max: number) =>
  Schema.Trim.check(
    isBetweenLength(1, max),
    isStorable,
    Schema.makeFilter((name) => !controlCharacter.test(name), {
      expected: "text without control characters"
    })
  ).pipe(Schema.annotateEncoded({ minLength: 1, maxLength: max }))
