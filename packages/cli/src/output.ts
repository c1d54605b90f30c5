import { env } from "node:process"

const isPlain = (): boolean => Boolean(env["NO_COLOR"]) || process.stdout.isTTY !== true

const colored = (code: number) => (text: string) =>
  isPlain() ? text : `\u001B[${code}m${text}\u001B[0m`

export const red = colored(31)
export const green = colored(32)
export const yellow = colored(33)
export const dim = colored(2)
export const bold = colored(1)

// Control characters are replaced, because text from a server could control the terminal with them.
const control = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g

const printable = (text: string): string => text.replaceAll(control, "�")

export const print = (text = ""): void => void process.stdout.write(`${text}\n`)

export const printError = (text: string): void =>
  void process.stderr.write(`scheduling: ${printable(text).replaceAll("\n", " ")}\n`)

export const printNote = (text: string): void => void process.stderr.write(`${printable(text)}\n`)

export const printJson = (value: unknown): void => print(JSON.stringify(value))

/** Formats a field's value for a table. */
export const formatCell = (value: unknown): string => {
  if (value === null || value === undefined) return "-"
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return printable(text).replaceAll(/\s+/g, " ")
}

/** Prints rows with aligned columns. */
export const printTable = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): void => {
  const widths = columns.map((name, at) =>
    Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0))
  )
  const line = (cells: ReadonlyArray<string>) =>
    cells
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd()
  print(bold(line(columns.map((name) => name.toUpperCase().replaceAll("_", " ")))))
  for (const row of rows) print(line(row))
}
