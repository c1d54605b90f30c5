/** A group of fields that shows a part of the values of a form. */
export interface FieldGroupProps<Values> {
  readonly values: Values
  readonly onChange: (change: Partial<Values>) => void
  /** The issue with a field, or with a value in it. */
  readonly errorOf: (
    field: keyof Values & string,
    ...within: ReadonlyArray<string>
  ) => string | undefined
}

/** Returns the props of the input or select that edits a text value, by the name of the value. */
export const inputPropsOf =
  <Values extends object>(values: Values, onChange: (change: Partial<Values>) => void) =>
  (field: keyof Values & string) => ({
    name: field,
    value: String(values[field] ?? ""),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ [field]: event.target.value } as Partial<Values>)
  })
