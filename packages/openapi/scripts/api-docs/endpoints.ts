import type { MediaType, OpenApiDocument, Operation, Response, Webhook } from "../../src/model.ts"
import { isSchema, referenced } from "../../src/schemas/rewriting.ts"
import { code, fieldTable, link, type Schema, type Schemas, table, valueTable } from "./text.ts"

interface Endpoint {
  readonly title: string
  readonly line: string
  readonly operation: Operation
}

/**
 * Renders each group: its purpose, a table of its endpoints, and below it every endpoint in full.
 * Calls that the service makes have no endpoint of ours, so they have no row.
 */
export const renderGroups = (document: OpenApiDocument): string => {
  const endpoints = endpointsOf(document)
  return document.tags
    .map(({ description = "", name }) => {
      const members = endpoints.filter(({ operation }) => operation.tags.includes(name))
      const rows = members.map(({ line, operation, title }) => [
        code(line),
        link(title, operation.summary),
        accessOf(operation)
      ])
      const webhooks = Object.values(document.webhooks)
        .map(({ post }) => post)
        .filter(({ tags }) => tags.includes(name))
      return [
        `## ${name}`,
        description,
        ...(rows.length > 0 ? [table(["endpoint", "what it does", "access"], rows)] : []),
        ...members.map((endpoint) => renderEndpoint(endpoint, document)),
        ...webhooks.map(renderWebhook)
      ].join("\n\n")
    })
    .join("\n\n")
}

/** Several endpoints may have the same summary, but a heading must be unique. */
const endpointsOf = ({ paths }: OpenApiDocument): ReadonlyArray<Endpoint> => {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      line: `${method.toUpperCase()} ${path}`,
      operation
    }))
  )
  const count = (summary: string) =>
    all.filter(({ operation }) => operation.summary === summary).length
  return all.map(({ line, operation }) => {
    const { summary, tags } = operation
    const group = count(summary) > 1 ? ` (${tags.join(", ").toLowerCase()})` : ""
    return { line, operation, title: summary + group }
  })
}

const accessOf = (operation: Operation): string => {
  switch (operation["x-access"]) {
    case "public":
      return "public"
    case "jwt":
      return "access token"
    case "credential":
      return "access token or any API key"
    case "scope":
      return code(operation["x-required-scope"] ?? "")
  }
}

const renderEndpoint = ({ line, operation, title }: Endpoint, document: OpenApiDocument) => {
  const { schemas } = document.components
  const { description, parameters, requestBody } = operation
  const query = parameters.filter((one) => one.in === "query")
  const headers = parameters.filter((one) => one.in === "header")
  const parts = [
    `### ${title}`,
    code(line),
    description,
    ...bodyOf(requestBody?.content["application/json"], schemas),
    ...(query.length > 0 ? ["Query:", valueTable(query, schemas, true)] : []),
    ...headers.map(({ description: what = "", name, required }) => {
      const need = required ? "required" : "optional"
      return `Header ${code(name)} (${need}): ${what}`
    }),
    ...outcomesOf(operation, document)
  ]
  return parts.join("\n\n")
}

const renderWebhook = ({ description, parameters, requestBody, responses, summary }: Webhook) =>
  [
    `### ${summary}`,
    description,
    "Headers:",
    table(
      ["header", "sent", "what it is", "for example"],
      parameters.map(({ description: what = "", name, required, schema }) => [
        code(name),
        required ? "always" : "sometimes",
        what,
        Array.isArray(schema.examples) ? code(String(schema.examples[0])) : ""
      ])
    ),
    `Body: ${requestBody.description}`,
    "Your answer:",
    table(
      ["status", "what follows"],
      Object.entries(responses)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([status, { description: what }]) => [
          status === "default" ? "any other" : status,
          what
        ])
    )
  ].join("\n\n")

const bodyOf = (media: MediaType | undefined, schemas: Schemas): ReadonlyArray<string> => {
  if (media === undefined) return []
  const body = schemas[referenced(media.schema) ?? ""] ?? media.schema
  const description = typeof body.description === "string" ? ` ${body.description}` : ""
  return [`Body:${description}`, fieldTable(body, schemas, true)]
}

const outcomesOf = (operation: Operation, document: OpenApiDocument): ReadonlyArray<string> => {
  const success: Array<string> = []
  const errors: Array<string> = []
  for (const [status, one] of Object.entries(operation.responses)) {
    const { content } = resolve(one, document)
    const media = content?.["application/json"]
    const text = content?.["text/plain"]
    if (Number(status) < 400) {
      const answer = text === undefined ? answerOf(media, document.components.schemas) : "with text"
      success.push(`Answers ${code(status)} ${answer}.`)
    } else if (media === undefined) {
      errors.push(status)
    } else {
      errors.push(
        `${status} ${Object.keys(media.examples ?? {})
          .map(code)
          .join(", ")}`
      )
    }
  }
  return [...success, ...(errors.length > 0 ? [`Errors: ${errors.join(" · ")}`] : [])]
}

const resolve = (
  response: Operation["responses"][string],
  { components }: OpenApiDocument
): Response => {
  if (!("$ref" in response)) return response
  const shared = components.responses[response.$ref.split("/").at(-1) ?? ""]
  if (shared === undefined) throw new Error(`${response.$ref} is not in the document`)
  return shared
}

const answerOf = (media: MediaType | undefined, schemas: Schemas): string => {
  if (media === undefined) return "without a body"
  const name = referenced(media.schema) ?? ""
  const item = itemOfPage(schemas[name] ?? {})
  return item === undefined ? `with ${link(name)}` : `with a page of ${link(item)}`
}

/** The name of the records in a page, if the schema is a page. */
export const itemOfPage = ({ properties }: Schema): string | undefined => {
  if (!isSchema(properties) || !isSchema(properties.data) || !("next_cursor" in properties)) return
  return isSchema(properties.data.items) ? referenced(properties.data.items) : undefined
}
