/** What goes to the text field of each of the values. */
export const typedInto =
  <Values extends object>(values: Values, onChange: (change: Partial<Values>) => void) =>
  (field: keyof Values & string) => ({
    name: field,
    value: String(values[field]),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ [field]: event.target.value } as Partial<Values>)
  })
