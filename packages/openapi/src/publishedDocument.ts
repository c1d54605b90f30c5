import type { HttpApi, HttpApiGroup, OpenApi } from "effect/http-api"
import type { Method, OpenApiDocument, Operation, Parameter, Reference } from "./model.ts"
import { openApiDocument } from "./OpenApiDocument.ts"

type PublishedOperation = Omit<Operation, "parameters"> & {
  readonly parameters: ReadonlyArray<Parameter | Reference>
}

export interface PublishedDocument extends Omit<OpenApiDocument, "components" | "paths"> {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<Method, PublishedOperation>>>>>
  readonly components: OpenApiDocument["components"] & {
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

/** The document as published: parameters shared by several operations are components. */
export const publishedDocument = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  server?: OpenApi.OpenAPISpecServer
): PublishedDocument => {
  const { components, ...document } = openApiDocument(api, server)
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const names = sharedNames(operations.flatMap(({ parameters }) => parameters))
  const shared = [...names].map(([text, name]): [string, Parameter] => [name, JSON.parse(text)])
  const paths: Record<string, Partial<Record<Method, PublishedOperation>>> = {}
  for (const [path, methods] of Object.entries(document.paths)) {
    paths[path] = Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [
        method,
        {
          ...operation,
          parameters: operation.parameters.map((parameter) => {
            const name = names.get(JSON.stringify(parameter))
            return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
          })
        }
      ])
    )
  }
  const parameters = Object.fromEntries(shared.toSorted(([one], [other]) => (one < other ? -1 : 1)))
  return { ...document, paths, components: { ...components, parameters } }
}

/**
 * Returns the component names of the shared parameters, by their JSON. If several parameters would
 * get the same name, the most frequent one is shared.
 */
const sharedNames = (parameters: ReadonlyArray<Parameter>): ReadonlyMap<string, string> => {
  const counts = new Map<string, number>()
  for (const parameter of parameters) {
    const text = JSON.stringify(parameter)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const texts = new Map<string, string>()
  for (const [text, count] of [...counts].toSorted(([, one], [, other]) => other - one)) {
    const name = nameOf(JSON.parse(text))
    if (count > 1 && !texts.has(name)) texts.set(name, text)
  }
  return new Map([...texts].map(([name, text]) => [text, name]))
}

/** `workspace_id` in the path → `WorkspaceIdInPath` */
const nameOf = ({ in: place, name }: Parameter): string => `${pascal(name)}In${pascal(place)}`

const pascal = (text: string): string =>
  text
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
