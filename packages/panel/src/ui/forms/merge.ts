/** The values of a form that changes a record, and the record that they were last compared with. */
export interface Edited<Values> {
  readonly base: Values
  readonly values: Values
}

export interface Merged<Values> extends Edited<Values> {
  /** Fields that only somebody else changed: the form shows their current value. */
  readonly taken: ReadonlyArray<string>
  /** Fields that both changed to different values. The reader decides. */
  readonly clashes: ReadonlyArray<string>
}

/**
 * Brings what others changed meanwhile into a form, field by field. What the reader typed stays.
 */
export const mergeLatest = <Values extends object>(
  { base, values }: Edited<Values>,
  latest: Values
): Merged<Values> => {
  const theirs = fieldsOf(latest).filter((field) => !isSame(base[field], latest[field]))
  const isClash = (field: keyof Values) =>
    !isSame(values[field], base[field]) && !isSame(values[field], latest[field])
  const clashes = theirs.filter(isClash)
  const settled = pick(
    latest,
    theirs.filter((field) => !isClash(field))
  )
  return {
    base: { ...base, ...settled },
    values: { ...values, ...settled },
    taken: theirs.filter((field) => isSame(values[field], base[field])),
    clashes
  }
}

/**
 * After the reader has decided: their own values stay changes, or the record's values replace
 * them.
 */
export const settleClashes = <Values extends object>(
  { base, values }: Edited<Values>,
  latest: Values,
  clashes: ReadonlyArray<string>,
  keeps: "mine" | "theirs"
): Edited<Values> => {
  const theirs = pick(
    latest,
    fieldsOf(latest).filter((field) => clashes.includes(field))
  )
  return {
    base: { ...base, ...theirs },
    values: keeps === "mine" ? values : { ...values, ...theirs }
  }
}

/** The fields of an input that were changed. PATCH leaves all others as they are. */
export const changedFields = <Input extends object>(before: Input, after: Input): Partial<Input> =>
  pick(
    after,
    fieldsOf(after).filter((field) => !isSame(before[field], after[field]))
  )

export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other)

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
