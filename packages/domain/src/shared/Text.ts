import { Schema } from "effect"

/**
 * PostgreSQL text cannot hold NUL or lone surrogates, so strings that contain them are rejected.
 */
const isStorable = Schema.makeFilter<string>(
  (text) => !text.includes("\u0000") && text.isWellFormed(),
  {
    expected: "text without NUL characters or lone surrogates"
  }
)

/**
 * Documents the given lengths. JSON Schema counts characters, but JavaScript counts UTF-16 units,
 * so Effect would document half of `min`, because six emoji satisfy a minimum of 12. For nearly all
 * readers, the given number is right.
 */
const isBetweenLength = (min: number, max: number) =>
  Schema.isBetweenLength(min, max, {
    toJsonSchema: () => ({ minLength: min, maxLength: max })
  })

/**
 * The length check comes last because annotations attach to the last check, and only that check is
 * documented.
 */
export const text = (limits: { readonly min: number; readonly max: number }) =>
  Schema.String.check(isStorable, isBetweenLength(limits.min, limits.max))

const controlCharacter = /\p{Cc}/u

/**
 * A one-line label: trimmed, not blank, without control characters. The OpenAPI document shows the
 * string before trimming, which has no checks, so the lengths are annotated on the encoded side.
 */
export const label = (max: number, annotations: Schema.Annotations.Documentation<string> = {}) =>
  Schema.Trim.check(
    isBetweenLength(1, max),
    isStorable,
    Schema.makeFilter((name) => !controlCharacter.test(name), {
      expected: "text without control characters"
    })
  ).pipe(Schema.annotateEncoded({ ...annotations, minLength: 1, maxLength: max }))
