import { Schema } from "effect"

/**
 * PostgreSQL text can hold neither NUL nor half a surrogate pair, so strings with them are refused.
 */
const isStorable = Schema.makeFilter<string>(
  (text) => !text.includes("\u0000") && text.isWellFormed(),
  {
    expected: "text without NUL characters or lone surrogates"
  }
)

/**
 * JSON Schema counts characters and JavaScript UTF-16 units, so Effect documents half of `min`: six
 * emoji are enough for a password of 12. The plain number serves nearly all readers better.
 */
const isBetweenLength = (min: number, max: number) =>
  Schema.isBetweenLength(min, max, {
    toJsonSchema: () => ({ minLength: min, maxLength: max })
  })

/**
 * The length comes last, because annotations go to the last check and only that one is documented.
 */
export const text = (limits: { readonly min: number; readonly max: number }) =>
  Schema.String.check(isStorable, isBetweenLength(limits.min, limits.max))

const controlCharacter = /\p{Cc}/u

/**
 * A one-line label for people: trimmed, not blank, without control characters. The document shows
 * the string before it is trimmed, which has no checks, so the lengths are annotated there.
 */
export const label = (max: number, annotations: Schema.Annotations.Documentation<string> = {}) =>
  Schema.Trim.check(
    isBetweenLength(1, max),
    isStorable,
    Schema.makeFilter((name) => !controlCharacter.test(name), {
      expected: "text without control characters"
    })
  ).pipe(Schema.annotateEncoded({ ...annotations, minLength: 1, maxLength: max }))
