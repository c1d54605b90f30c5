import type { Operation, Response } from "../model.ts"
import type { DocumentWithSharedParameters } from "./withSharedParameters.ts"
import { mapOperations } from "../mapValues.ts"

const pathOf = (name: string) => `#/components/responses/${name}`
const nameOfDefault = "Error"

/**
 * Replaces the errors that more than half of the operations can return with one `default` response.
 * Each operation still lists its other errors.
 */
export const withDefaultErrors = (
  document: DocumentWithSharedParameters
): DocumentWithSharedParameters => {
  const common = commonErrors(document)
  const isCommonPassword = (response: Operation["responses"][string]) =>
    "$ref" in response && common.has(response.$ref)
  const shared = Object.entries(document.components.responses)
  const responses = [
    ...shared.filter(([name]) => !common.has(pathOf(name))),
    [
      nameOfDefault,
      merged(shared.flatMap(([name, one]) => (common.has(pathOf(name)) ? [one] : [])))
    ] as const
  ]
  return {
    ...document,
    paths: mapOperations(document.paths, (operation) => {
      const all = Object.entries(operation.responses)
      const own = all.filter(([, response]) => !isCommonPassword(response))
      return {
        ...operation,
        responses: {
          ...Object.fromEntries(own),
          ...(own.length < all.length && { default: { $ref: pathOf(nameOfDefault) } })
        }
      }
    }),
    components: {
      ...document.components,
      responses: Object.fromEntries(responses.toSorted(([one], [other]) => (one < other ? -1 : 1)))
    }
  }
}

/** Returns the references to the responses that more than half of the operations have. */
const commonErrors = ({ paths }: DocumentWithSharedParameters): ReadonlySet<string> => {
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const counts = new Map<string, number>()
  for (const response of operations.flatMap((one) => Object.values(one.responses))) {
    if ("$ref" in response) counts.set(response.$ref, (counts.get(response.$ref) ?? 0) + 1)
  }
  return new Set(
    [...counts].flatMap(([path, count]) => (count * 2 > operations.length ? [path] : []))
  )
}

const merged = (responses: ReadonlyArray<Response>): Response => {
  const media = responses.flatMap(({ content }) => Object.values(content ?? {}))
  const schemas = media.flatMap(({ schema }) =>
    Array.isArray(schema.anyOf) ? schema.anyOf : [schema]
  )
  const examples = Object.assign({}, ...media.map((one) => one.examples))
  const codes = Object.keys(examples).map((code) => `\`${code}\``)
  return {
    description: `An error that most operations can return: ${new Intl.ListFormat("en", { type: "disjunction" }).format(codes)}.`,
    headers: Object.assign({}, ...responses.map(({ headers }) => headers)),
    content: { "application/json": { schema: { anyOf: schemas }, examples } }
  }
}
