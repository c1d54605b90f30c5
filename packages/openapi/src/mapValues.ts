/** Applies a function to every operation of a document. */
export const mapOperations = <A, B>(
  paths: Readonly<Record<string, Readonly<Record<string, A>>>>,
  f: (operation: A) => B
): Readonly<Record<string, Readonly<Record<string, B>>>> =>
  mapValues(paths, (methods) => mapValues(methods, f))

export const mapValues = <A, B>(
  record: Readonly<Record<string, A>>,
  f: (value: A) => B
): Readonly<Record<string, B>> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, f(value)]))
