/**
 * Options as a row keeps them: those that are set, or null if none is. A change that is undefined
 * keeps an option, and null takes it away.
 */
export const mergedOptions = <Options extends object>(
  before: Options | null,
  changes: { readonly [Name in keyof Options]-?: Options[Name] | null | undefined }
): Options | null => {
  const merged = { ...before, ...withoutUndefined(changes) }
  const set = Object.entries(merged).filter(([, value]) => value !== null)
  return set.length === 0 ? null : (Object.fromEntries(set) as Options)
}

const withoutUndefined = (changes: object) =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
