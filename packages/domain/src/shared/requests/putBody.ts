import { Option, Schema, SchemaGetter } from "effect"

/** A field that only responses have. A PUT can contain it, but its value is ignored. */
export const ignoredField = Schema.optionalKey(
  Schema.Json.annotate({ readOnly: true, description: "Ignored. Only responses have this field." })
).pipe(
  Schema.decodeTo(Schema.optionalKey(Schema.Unknown), {
    decode: SchemaGetter.omit(),
    encode: SchemaGetter.omit()
  })
)

/**
 * The fields of a PUT by key. The body can be a GET's response: fields that only responses have are
 * ignored.
 */
export const putFields = <const Fields extends Schema.Struct.Fields>(
  fields: Fields,
  response: { readonly fields: Schema.Struct.Fields }
): Fields => {
  const onlyInResponse = Object.keys(response.fields).filter((name) => !(name in fields))
  return { ...Object.fromEntries(onlyInResponse.map((name) => [name, ignoredField])), ...fields }
}

/** A field of a PUT in which null means absent, because responses show null. */
export const nullIsAbsent = <S extends Schema.Codec<unknown, unknown>>(
  field: Schema.optionalKey<S>
): Schema.optionalKey<S> =>
  Schema.optionalKey(Schema.NullOr(Schema.toEncoded(field.schema))).pipe(
    Schema.decodeTo(field, {
      decode: SchemaGetter.transformOptional(Option.filter((value) => value !== null)),
      encode: SchemaGetter.passthrough({ strict: false })
    })
  ) as unknown as Schema.optionalKey<S>
