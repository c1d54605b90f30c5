type Reader<Value> = (value: unknown) => Value | undefined

type Search<Readers extends Readonly<Record<string, Reader<unknown>>>> = {
  readonly [Key in keyof Readers]?: NonNullable<ReturnType<Readers[Key]>>
}

/** Parses search parameters. Omits missing and invalid ones. */
export const searchOf =
  <const Readers extends Readonly<Record<string, Reader<unknown>>>>(readers: Readers) =>
  (search: Readonly<Record<string, unknown>>): Search<Readers> =>
    Object.fromEntries(
      Object.entries(readers).flatMap(([key, read]) => {
        const value = read(search[key])
        return value === undefined ? [] : [[key, value]]
      })
    ) as Search<Readers>

/** Accepts a string of at most 200 characters. */
export const searchTextOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, 200) : undefined

/** Accepts one of the allowed values. */
export const oneOf =
  <const Value extends string>(allowed: ReadonlyArray<Value>) =>
  (value: unknown): Value | undefined =>
    allowed.find((known) => known === value)

/** Accepts a comma-separated list of allowed values. */
export const listOf =
  <const Value extends string>(allowed: ReadonlyArray<Value>) =>
  (value: unknown): string | undefined => {
    const chosen = typeof value === "string" ? value.split(",") : []
    return allowed.filter((known) => chosen.includes(known)).join(",") || undefined
  }

/** Accepts one of the keys of the record. */
export const oneKeyOf =
  <Key extends string>(known: Readonly<Record<Key, unknown>>) =>
  (value: unknown): Key | undefined =>
    typeof value === "string" && Object.hasOwn(known, value) ? (value as Key) : undefined

/** Accepts an integer within these limits. */
export const wholeNumberIn =
  ({ max, min }: { readonly min: number; readonly max: number }) =>
  (value: unknown): number | undefined => {
    const number = value === "" ? Number.NaN : Number(value)
    return Number.isInteger(number) && number >= min && number <= max ? number : undefined
  }

/** Accepts a text that is a valid date and time, and returns it unchanged. */
export const dateTimeTextOf = (value: unknown): string | undefined => {
  const text = searchTextOf(value)
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text
}
