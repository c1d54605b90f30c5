import { Schema, SchemaAST } from "effect"

/** The annotation that holds the description of a field in a PATCH. */
const inPatch = "inPatch"

/**
 * An optional field of a body. `value` is a phrase such as `30` or `None` that completes the
 * description: `30 when absent or null.` A PATCH leaves absent fields unchanged, so there the
 * description only says what null does.
 */
export const optionalWithDefault = <S extends Schema.Top>(
  value: string,
  schema: S
): Schema.optionalKey<S> => {
  const isNullable = SchemaAST.isUnion(schema.ast) && schema.ast.types.some(SchemaAST.isNull)
  const cleared =
    value === "None"
      ? "Null removes it."
      : `Null: ${value.charAt(0).toLowerCase()}${value.slice(1)}.`
  return withTexts(
    Schema.optionalKey(schema),
    `${value} when absent${isNullable ? " or null" : ""}.`,
    isNullable ? cleared : ""
  )
}

/**
 * Like `optionalWithDefault`, but with a full sentence about the default, which is omitted for a
 * PATCH.
 */
export const optionalWithNote = <S extends Schema.Top>(
  sentence: string,
  schema: S
): Schema.optionalKey<S> => withTexts(Schema.optionalKey(schema), sentence, "")

/** The fields of a PATCH: all optional, with their PATCH descriptions. */
export const patchFields = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const text = field.ast.context?.annotations?.[inPatch]
      const optional = Schema.optionalKey(field as Schema.Top)
      return [name, typeof text === "string" ? described(optional, text) : optional]
    })
  ) as unknown as { readonly [Name in keyof Fields]: OptionalOf<Fields[Name]> }

type OptionalOf<Field extends Schema.Constraint> =
  Field extends Schema.optionalKey<infer S> ? Schema.optionalKey<S> : Schema.optionalKey<Field>

const withTexts = <S extends Schema.Top>(field: S, absent: string, patched: string): S => {
  const text =
    SchemaAST.resolveDescription(field.ast) ??
    SchemaAST.resolveDescription(SchemaAST.toEncoded(field.ast)) ??
    ""
  const joined = (end: string) => [text, end].filter((part) => part !== "").join(" ")
  return described(field, joined(absent)).annotateKey({ [inPatch]: joined(patched) }) as S
}

/**
 * The description of a transformed field belongs to its encoded side, which is what bodies contain.
 */
const described = (field: Schema.Top, description: string): Schema.Top =>
  field.ast.encoding === undefined
    ? field.annotateKey({ description })
    : field.pipe(Schema.annotateEncoded({ description }))
