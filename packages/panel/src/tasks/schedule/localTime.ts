/** As `<input type="datetime-local">` wants it: on the reader's clock. */
export const localTime = (at: string): string => {
  const date = new Date(at)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
