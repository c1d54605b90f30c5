export const pluralize = (count: number, one: string, more = `${one}s`): string =>
  `${count} ${count === 1 ? one : more}`
