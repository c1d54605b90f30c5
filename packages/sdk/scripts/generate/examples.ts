import { type Contract, isRecord, type Method, type Query, type Schema } from "./contract.ts"
import { referencedName } from "@scheduling/openapi/schemas/rewriting"

/** Renders a compilable call of the method from the examples of the contract. */
export const renderExample = (group: string, method: Method, contract: Contract): string => {
  const { ids, inputs, name, output } = method
  const constants = ids
    .map((id) => `const ${id.name} = "${exampleIds[id.wire] ?? exampleId}"\n`)
    .join("")
  const values = inputs.flatMap((input) => argument(input, contract))
  const call = `client.${group}.${name}(${[...ids.map((id) => id.name), ...values].join(", ")})`
  switch (output.kind) {
    case "nothing":
      return `${constants}await ${call}`
    case "record":
      return `${constants}const ${variable(output.type)} = await ${call}`
    case "events":
      return `${constants}for await (const event of ${call}) {\n  console.log(event.type, event.created_at)\n}`
    case "pages":
      return `${constants}for await (const ${variable(output.item)} of ${call}) {\n  console.log(${variable(output.item)})\n}`
  }
}

/** Identifiers that a caller chooses, by the name of their path parameter. */
const exampleIds: Readonly<Record<string, string>> = { key: "reports:nightly", slug: "acme" }
const exampleId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

const variable = (type: string) => type.charAt(0).toLowerCase() + type.slice(1)

const argument = ({ kind, type }: Method["inputs"][number], contract: Contract) => {
  if (kind === "body") return [literal(firstExample(contract.schemas[type]))]
  const query = contract.queries.find((one) => one.type === type)
  return query === undefined ? [] : [literal(queryExample(query, contract))]
}

/** Returns all required fields and one optional field as an example. */
const queryExample = ({ parameters }: Query, { schemas }: Contract): object => {
  const required = parameters.filter((one) => one.required)
  const optional = parameters.filter((one) => !one.required).slice(0, 1)
  const fields = [...required, ...optional].map(({ name, schema }) => {
    const item = isRecord(schema.items) ? schema.items : schema
    const target = schemas[referencedName(item) ?? ""] ?? item
    return [name, firstOf(target.enum) ?? firstOf(target.examples) ?? target.maximum] as const
  })
  return Object.fromEntries(fields.map(([name, value]) => [name, given(name, value)]))
}

const firstExample = (schema: Schema | undefined): unknown =>
  given(JSON.stringify(schema), firstOf(schema?.examples))

const firstOf = (values: unknown): unknown => (Array.isArray(values) ? values[0] : undefined)

const given = (what: string, value: unknown): unknown => {
  if (value === undefined) throw new Error(`The contract has no example of ${what}`)
  return value
}

const width = 60

/** Formats a value as idiomatic TypeScript. */
const literal = (value: unknown, indent = ""): string => {
  const inner = `${indent}  `
  const lines = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : isRecord(value)
      ? Object.entries(value).map(([name, field]) => `${key(name)}: ${literal(field, inner)}`)
      : undefined
  if (lines === undefined) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{ ", " }"]
  const short = `${open}${lines.join(", ")}${close}`
  if (lines.length < 3 && short.length + indent.length < width && !short.includes("\n"))
    return short
  const body = lines.map((line) => `${inner}${line}`).join(",\n")
  return `${open.trim()}\n${body}\n${indent}${close.trim()}`
}

const key = (name: string) => (/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name))
