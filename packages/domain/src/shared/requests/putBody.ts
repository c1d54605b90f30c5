import { Option, Schema, SchemaGetter } from "effect"

/** A field that only answers have. A PUT may bring it, and it is ignored. */
export const ignored = Schema.optionalKey(
  Schema.Json.annotate({ readOnly: true, description: "Ignored: only answers have it." })
).pipe(
  Schema.decodeTo(Schema.optionalKey(Schema.Unknown), {
    decode: SchemaGetter.omit(),
    encode: SchemaGetter.omit()
  })
)

/**
 * The fields of a PUT by key, which takes what a GET returns: fields that only the answer has are
 * ignored.
 */
export const putFields = <const Fields extends Schema.Struct.Fields>(
  fields: Fields,
  answer: { readonly fields: Schema.Struct.Fields }
): Fields => {
  const onlyInAnswer = Object.keys(answer.fields).filter((name) => !(name in fields))
  return { ...Object.fromEntries(onlyInAnswer.map((name) => [name, ignored])), ...fields }
}

/** A field of a PUT in which null means the same as no field, because answers show null. */
export const nullIsAbsent = <S extends Schema.Codec<unknown, unknown>>(
  field: Schema.optionalKey<S>
): Schema.optionalKey<S> =>
  Schema.optionalKey(Schema.NullOr(Schema.toEncoded(field.schema))).pipe(
    Schema.decodeTo(field, {
      decode: SchemaGetter.transformOptional(Option.filter((value) => value !== null)),
      encode: SchemaGetter.passthrough({ strict: false })
    })
  ) as unknown as Schema.optionalKey<S>
