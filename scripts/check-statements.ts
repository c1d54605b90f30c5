/**
 * Fails if the source contains SQL that no test has run successfully: `node
 * scripts/check-statements.ts FOLDER`, after the tests ran with `STATEMENTS_RUN=FOLDER` on both
 * stores. A template counts as run if its parts occur in order in a recorded statement: as the
 * whole statement, or within parentheses or a union. A fragment can occur anywhere. If two
 * templates match a whole statement and one is a prefix of the other, the longer one counts.
 */
import { globSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseAst } from "rolldown/parseAst"

interface Template {
  readonly at: string
  readonly parts: ReadonlyArray<string>
  readonly isStatement: boolean
}

/** The part of ESTree that this file uses. */
interface Node {
  readonly type: string
  readonly start: number
  readonly tag?: { readonly type: string; readonly name?: string }
  readonly quasi?: { readonly quasis: ReadonlyArray<{ readonly value: { readonly raw: string } }> }
}

const tags = new Set(["sql", "own"])
const statement = /^(?:ALTER|CREATE|DELETE|DROP|INSERT|SELECT|SET|TRUNCATE|UPDATE|WITH)\b/

const inOneLine = (text: string) =>
  text.replaceAll(/\s+/g, " ").replaceAll("( ", "(").replaceAll(" )", ")")

const templatesIn = (file: string): ReadonlyArray<Template> => {
  const source = readFileSync(file, "utf8")
  const found: Array<Template> = []
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    const node = value as Node
    if (node.type === "TaggedTemplateExpression" && tags.has(node.tag?.name ?? "")) {
      const parts = (node.quasi?.quasis ?? []).map((part) => inOneLine(part.value.raw))
      const line = source.slice(0, node.start).split("\n").length
      const isStatement = statement.test(parts.join("$").trim())
      found.push({ at: `${file}:${line}`, parts, isStatement })
    }
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseAst(source, { lang: "ts" }))
  return found
}

type Frame = readonly [open: string, close: string]

/** Characters that mark a statement's start and end. No statement contains them. */
const edges: Frame = ["\u0002", "\u0003"]
const nothing: Frame = ["", ""]
const inner: ReadonlyArray<Frame> = ["(", "UNION ALL "].flatMap((open) =>
  [")", " UNION ALL"].map((close): Frame => [open, close])
)

const isIn = (text: string, parts: ReadonlyArray<string>, [open, close]: Frame) => {
  let end = 0
  for (const [index, part] of parts.entries()) {
    const isFirst = index === 0
    const isLast = index === parts.length - 1
    // A fragment between two parts can be empty, which collapses the spaces around it.
    const wanted = (isFirst ? open : "") + part.trim() + (isLast ? close : "")
    const at = text.indexOf(wanted, end)
    if (at === -1) return false
    end = at + wanted.length
  }
  return true
}

const isWhole = ({ isStatement, parts }: Template, text: string) =>
  isStatement && isIn(edges[0] + text + edges[1], parts, edges)

const isPart = ({ isStatement, parts }: Template, text: string) =>
  (isStatement ? inner : [nothing]).some((frame) => isIn(text, parts, frame))

const [folder = ""] = process.argv.slice(2)
const texts = new Set(
  readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => inOneLine(String(JSON.parse(line))).trim())
  )
)
const templates = globSync("packages/server/src/**/*.ts")
  .flatMap(templatesIn)
  .map((template) => ({ ...template, example: template.parts.join("$1").trim() }))

const run = new Set<string>()
for (const text of texts) {
  const whole = templates.filter((template) => isWhole(template, text))
  for (const template of templates) {
    const goesOn = whole.some(
      ({ example }) => example.length > template.example.length && isWhole(template, example)
    )
    if ((whole.includes(template) && !goesOn) || isPart(template, text)) run.add(template.at)
  }
}

const never = templates.filter(({ at }) => !run.has(at))
for (const { at, parts } of never) console.log(`${at} never ran: ${parts.join("…").trim()}`)
console.log(
  `${templates.length} pieces of SQL in the source, ${never.length} never run, by ${texts.size} texts`
)
process.exitCode = never.length > 0 || templates.length === 0 ? 1 : 0
