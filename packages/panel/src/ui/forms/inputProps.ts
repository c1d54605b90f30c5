/** The props of a field group that edits some of a form's values. */
export interface FieldGroupProps<Values> {
  readonly values: Values
  readonly onChange: (change: Partial<Values>) => void
  /** Returns the issue with a field, or with a value within it. */
  readonly errorOf: (
    field: keyof Values & string,
    ...within: ReadonlyArray<string>
  ) => string | undefined
}

/** Returns the props of the input or select that edits a named string value. */
export const inputPropsOf =
  <Values extends object>(values: Values, onChange: (change: Partial<Values>) => void) =>
  (field: keyof Values & string) => ({
    name: field,
    value: String(values[field] ?? ""),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ [field]: event.target.value } as Partial<Values>)
  })
