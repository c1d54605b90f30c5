/** Returns the record, with its fields replaced by those that are given. */
export const withGivenFields = <Fields extends object>(
  record: Fields,
  given: { readonly [Name in keyof Fields]?: Fields[Name] | undefined }
): Fields => {
  const changes = Object.entries(given).filter(
    ([name, value]) => name in record && value !== undefined
  )
  return { ...record, ...Object.fromEntries(changes) }
}
