/** A form's values, and the version of the record that they were last merged with. */
export interface FormState<Values> {
  readonly base: Values
  readonly values: Values
}

export interface MergedFormState<Values> extends FormState<Values> {
  /** Fields that only someone else changed. The form shows the new values. */
  readonly taken: ReadonlyArray<string>
  /**
   * Fields that both this user and someone else changed, to different values. The user must choose.
   */
  readonly clashes: ReadonlyArray<string>
}

/** Merges other users' changes into a form, field by field. The user's own edits are kept. */
export const mergeLatest = <Values extends object>(
  { base, values }: FormState<Values>,
  latest: Values
): MergedFormState<Values> => {
  const theirs = fieldsOf(latest).filter((field) => !isSameValue(base[field], latest[field]))
  const isClash = (field: keyof Values) =>
    !isSameValue(values[field], base[field]) && !isSameValue(values[field], latest[field])
  const clashes = theirs.filter(isClash)
  const settled = pick(
    latest,
    theirs.filter((field) => !isClash(field))
  )
  return {
    base: { ...base, ...settled },
    values: { ...values, ...settled },
    taken: theirs.filter((field) => isSameValue(values[field], base[field]) && field !== "version"),
    clashes
  }
}

/** Resolves conflicts: either the user's values stay as edits, or the record's values replace them. */
export const resolveConflicts = <Values extends object>(
  { base, values }: FormState<Values>,
  latest: Values,
  clashes: ReadonlyArray<string>,
  keeps: "mine" | "theirs"
): FormState<Values> => {
  const theirs = pick(
    latest,
    fieldsOf(latest).filter((field) => clashes.includes(field))
  )
  return {
    base: { ...base, ...theirs },
    values: keeps === "mine" ? values : { ...values, ...theirs }
  }
}

/**
 * Returns an input's changed fields. PATCH keeps omitted fields and merges headers, so removed
 * headers are null.
 */
export const changedFields = <Input extends object>(before: Input, after: Input): Partial<Input> =>
  Object.fromEntries(
    fieldsOf(after)
      .filter((field) => !isSameValue(before[field], after[field]))
      .map((field) => [
        field,
        field === "headers" ? { ...removed(before[field]), ...after[field] } : after[field]
      ])
  ) as Partial<Input>

const removed = (headers: unknown) =>
  Object.fromEntries(Object.keys(headers ?? {}).map((name) => [name, null]))

export const isSameValue = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other)

/** Returns the number of fields whose value differs from `initial`. */
export const countChanged = <Values extends object>(
  initial: Values,
  values: Values,
  fields: ReadonlyArray<keyof Values & string> = fieldsOf(initial)
): number => fields.filter((field) => !isSameValue(initial[field], values[field])).length

const fieldsOf = <Values extends object>(values: Values): ReadonlyArray<keyof Values & string> => {
  const fields: Array<keyof Values & string> = []
  for (const field in values) fields.push(field)
  return fields
}

const pick = <Values extends object>(
  values: Values,
  fields: ReadonlyArray<keyof Values & string>
): Partial<Values> =>
  Object.fromEntries(fields.map((field) => [field, values[field]])) as Partial<Values>
