import { readFile, writeFile } from "node:fs/promises"
import { Api } from "@scheduling/domain/Api"
import { publishedDocument } from "../src/publishedDocument.ts"

const file = new URL("../openapi.json", import.meta.url)
const shownLines = 12
const shownCharacters = 160

const lines = (sign: string, part: ReadonlyArray<string>) => [
  ...part.slice(0, shownLines).map((line) => (sign + line).slice(0, shownCharacters)),
  ...(part.length > shownLines ? [`${sign} ... and ${part.length - shownLines} lines more`] : [])
]

/** Shows the lines of both documents from the first to the last difference. */
const difference = (committed: ReadonlyArray<string>, generated: ReadonlyArray<string>): string => {
  const shorter = Math.min(committed.length, generated.length)
  let start = 0
  while (start < shorter && committed[start] === generated[start]) start++
  let end = 0
  while (end < shorter - start && committed.at(-1 - end) === generated.at(-1 - end)) end++
  return [
    `@@ line ${start + 1} @@`,
    ...generated.slice(Math.max(0, start - 3), start).map((line) => ` ${line}`),
    ...lines("-", committed.slice(start, committed.length - end)),
    ...lines("+", generated.slice(start, generated.length - end))
  ].join("\n")
}

const generated = JSON.stringify(publishedDocument(Api), null, 2) + "\n"

if (process.argv.includes("--check")) {
  const committed = await readFile(file, "utf8").catch(() => "")
  if (committed !== generated) {
    console.error(
      "packages/openapi/openapi.json does not match packages/domain/src.\n" +
        "Run `npm run generate` and commit the result.\n"
    )
    console.error(difference(committed.split("\n"), generated.split("\n")))
    process.exitCode = 1
  }
} else {
  await writeFile(file, generated)
}
