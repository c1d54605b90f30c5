/** Reads what the address says, and leaves out what it should not. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, 200) : undefined

export const oneOf = <const Value extends string>(
  allowed: ReadonlyArray<Value>,
  value: unknown
): Value | undefined => allowed.find((known) => known === value)

/** A key of a record, if the address names one. */
export const keyIn = <Key extends string>(
  known: Readonly<Record<Key, unknown>>,
  value: unknown
): Key | undefined =>
  typeof value === "string" && Object.hasOwn(known, value) ? (value as Key) : undefined

/** Without the fields that are undefined, so that the address stays short. */
export const given = <Fields extends object>(fields: Fields): Given<Fields> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined)
  ) as Given<Fields>

type Given<Fields> = { readonly [Key in keyof Fields]?: Exclude<Fields[Key], undefined> }
