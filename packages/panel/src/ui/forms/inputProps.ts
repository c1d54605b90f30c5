/** The props of a field group that edits some of a form's values. */
export interface FieldGroupProps<Values> {
  readonly values: Values
  readonly onChange: (change: Partial<Values>) => void
  /** Returns a field's issue, or the issue with a value within the field. */
  readonly errorOf: (
    field: keyof Values & string,
    ...within: ReadonlyArray<string>
  ) => string | undefined
}

/** Returns the props for the input or select that edits the named string value. */
export const inputPropsOf =
  <Values extends object>(values: Values, onChange: (change: Partial<Values>) => void) =>
  (field: keyof Values & string) => ({
    name: field,
    value: String(values[field] ?? ""),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ [field]: event.target.value } as Partial<Values>)
  })
